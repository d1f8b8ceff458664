import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.mil.builder import mb
from tests.mil.harness import check, covers, few, floats, seeds, shapes

epsilons = st.sampled_from([1e-5, 1e-3, 0.5])


def per_channel(shape, seed, data):
    """A drawn choice of gamma and beta as parameters, and both as arrays that broadcast."""
    channels = shape[1]
    gamma, beta = floats((channels,), seed + 1), floats((channels,), seed + 2)
    parameters = {}
    if data.draw(st.booleans()):
        parameters["gamma"] = gamma
    else:
        gamma = np.ones_like(gamma)
    if data.draw(st.booleans()):
        parameters["beta"] = beta
    else:
        beta = np.zeros_like(beta)
    wide = (-1, *[1] * (len(shape) - 2))
    return parameters, gamma.reshape(wide), beta.reshape(wide)


@covers("layer_norm")
@few
@given(
    shape=shapes(1, 4),
    seed=seeds,
    epsilon=epsilons,
    flexible=st.booleans(),
    affine=st.sampled_from([(), ("gamma",), ("gamma", "beta")]),
    data=st.data(),
)
def test_layer_norm(shape, seed, epsilon, flexible, affine, data):
    rank = len(shape)
    axes = sorted(data.draw(st.sets(st.integers(0, rank - 1), min_size=1)))
    sizes = [shape[axis] for axis in axes]
    wide = [shape[axis] if axis in axes else 1 for axis in range(rank)]
    gamma = floats(sizes, seed + 1) if "gamma" in affine else np.ones(sizes, np.float32)
    beta = floats(sizes, seed + 2) if "beta" in affine else np.zeros(sizes, np.float32)
    parameters = {"gamma": gamma, "beta": beta}
    x = floats(shape, seed)
    centred = x - x.mean(tuple(axes), keepdims=True)
    deviation = np.sqrt((centred**2).mean(tuple(axes), keepdims=True) + np.float32(epsilon))
    signed = [axis - rank if data.draw(st.booleans()) else axis for axis in axes]
    check(
        "layer_norm",
        lambda x: mb.layer_norm(
            x=x,
            axes=signed,
            epsilon=np.float32(epsilon),
            **{name: parameters[name] for name in affine},
        ),
        {"x": x},
        centred / deviation * gamma.reshape(wide) + beta.reshape(wide),
        flexible=flexible,
        atol=2e-5,
    )


@covers("batch_norm")
@few
@given(shape=shapes(3, 5), seed=seeds, epsilon=epsilons, flexible=st.booleans(), data=st.data())
def test_batch_norm(shape, seed, epsilon, flexible, data):
    x = floats(shape, seed)
    parameters, gamma, beta = per_channel(shape, seed, data)
    mean, variance = floats(shape[1:2], seed + 3), floats(shape[1:2], seed + 4, 0.1, 2)
    wide = gamma.shape
    scale = gamma / np.sqrt(variance.reshape(wide) + np.float32(epsilon))
    check(
        "batch_norm",
        lambda x: mb.batch_norm(
            x=x, mean=mean, variance=variance, epsilon=np.float32(epsilon), **parameters
        ),
        {"x": x},
        (x - mean.reshape(wide)) * scale + beta,
        flexible=flexible,
        atol=1e-5,
    )


@covers("instance_norm")
@few
@given(shape=shapes(3, 4), seed=seeds, epsilon=epsilons, flexible=st.booleans(), data=st.data())
def test_instance_norm(shape, seed, epsilon, flexible, data):
    x = floats(shape, seed)
    parameters, gamma, beta = per_channel(shape, seed, data)
    axes = tuple(range(2, len(shape)))
    centred = x - x.mean(axes, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axes, keepdims=True) + np.float32(epsilon))
    check(
        "instance_norm",
        lambda x: mb.instance_norm(x=x, epsilon=np.float32(epsilon), **parameters),
        {"x": x},
        centred / deviation * gamma + beta,
        flexible=flexible,
        atol=2e-5,
    )


@covers("l2_norm")
@few
@given(shape=shapes(3, 5), seed=seeds, epsilon=epsilons, flexible=st.booleans())
def test_l2_norm(shape, seed, epsilon, flexible):
    x = floats(shape, seed)
    length = np.sqrt(np.sum(x * x, axis=(-3, -2, -1), keepdims=True) + np.float32(epsilon))
    check(
        "l2_norm",
        lambda x: mb.l2_norm(x=x, epsilon=np.float32(epsilon)),
        {"x": x},
        x / length,
        flexible=flexible,
    )
