"""Names of currencies and units of measure."""

from twinvox.text.en_natural.replace import word_set

# Symbol: singular, plural, hundredth, hundredths.
CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
    "₩": ("won", "won", "jeon", "jeon"),
    "₽": ("ruble", "rubles", "kopeck", "kopecks"),
    "₺": ("lira", "lira", "kurush", "kurush"),
    "₪": ("shekel", "shekels", "agora", "agorot"),
    "₿": ("bitcoin", "bitcoins", "cent", "cents"),
    "฿": ("baht", "baht", "satang", "satang"),
}
CODES = {
    "USD": ("US dollar", "US dollars"), "EUR": ("euro", "euros"), "GBP": ("pound", "pounds"),
    "JPY": ("yen", "yen"), "CNY": ("yuan", "yuan"), "RMB": ("yuan", "yuan"),
    "CHF": ("Swiss franc", "Swiss francs"), "CAD": ("Canadian dollar", "Canadian dollars"),
    "AUD": ("Australian dollar", "Australian dollars"), "INR": ("rupee", "rupees"),
    "NZD": ("New Zealand dollar", "New Zealand dollars"), "KRW": ("won", "won"),
    "SEK": ("krona", "kronor"), "NOK": ("krone", "kroner"), "DKK": ("krone", "kroner"),
    "PLN": ("zloty", "zlotys"), "BRL": ("real", "reals"), "MXN": ("peso", "pesos"),
    "RUB": ("ruble", "rubles"), "ZAR": ("rand", "rand"), "BTC": ("bitcoin", "bitcoins"),
}  # fmt: skip
COUNTRIES = {
    "US": "US ", "C": "Canadian ", "CA": "Canadian ", "A": "Australian ", "AU": "Australian ",
    "NZ": "New Zealand ", "HK": "Hong Kong ", "S": "Singapore ", "R": "",
}  # fmt: skip
MAGNITUDES = {
    "k": "thousand", "m": "million", "mn": "million", "mm": "million", "mil": "million",
    "b": "billion", "bn": "billion", "t": "trillion", "tn": "trillion", "trn": "trillion",
}  # fmt: skip
PER = {
    "h": "hour", "hr": "hour", "d": "day", "wk": "week", "w": "week", "mo": "month",
    "y": "year", "yr": "year", "s": "second", "sec": "second", "min": "minute",
    "night": "night", "person": "person", "hour": "hour", "day": "day", "week": "week",
    "month": "month", "year": "year", "share": "share", "piece": "piece", "user": "user",
    "seat": "seat", "unit": "unit", "item": "item", "head": "head", "ton": "ton",
}  # fmt: skip
# Unit: singular, plural (None: with s).
UNITS: dict[str, tuple[str, str | None]] = {
    "km": ("kilometer", None), "m": ("meter", None), "cm": ("centimeter", None),
    "mm": ("millimeter", None), "µm": ("micrometer", None), "nm": ("nanometer", None),
    "mi": ("mile", None), "yd": ("yard", None), "yds": ("yard", None), "ft": ("foot", "feet"),
    "in": ("inch", "inches"), "kg": ("kilogram", None), "kgs": ("kilogram", None),
    "g": ("gram", None), "mg": ("milligram", None), "µg": ("microgram", None),
    "mcg": ("microgram", None), "lb": ("pound", None), "lbs": ("pound", None),
    "oz": ("ounce", None), "l": ("liter", None), "L": ("liter", None),
    "ml": ("milliliter", None), "mL": ("milliliter", None), "cl": ("centiliter", None),
    "dl": ("deciliter", None), "gal": ("gallon", None), "qt": ("quart", None),
    "tsp": ("teaspoon", None), "tbsp": ("tablespoon", None), "ha": ("hectare", None),
    "h": ("hour", None), "hr": ("hour", None), "hrs": ("hour", None), "min": ("minute", None),
    "mins": ("minute", None), "s": ("second", None), "sec": ("second", None),
    "secs": ("second", None), "ms": ("millisecond", None), "µs": ("microsecond", None),
    "ns": ("nanosecond", None), "yr": ("year", None), "yrs": ("year", None),
    "mph": ("mile per hour", "miles per hour"), "mpg": ("mile per gallon", "miles per gallon"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "kmh": ("kilometer per hour", "kilometers per hour"),
    "fps": ("frame per second", "frames per second"),
    "rpm": ("revolution per minute", "revolutions per minute"),
    "bpm": ("beat per minute", "beats per minute"), "dpi": ("dot per inch", "dots per inch"),
    "ppm": ("part per million", "parts per million"), "psi": ("P S I", "P S I"),
    "kB": ("kilobyte", None), "KB": ("kilobyte", None), "MB": ("megabyte", None),
    "GB": ("gigabyte", None), "TB": ("terabyte", None), "PB": ("petabyte", None),
    "KiB": ("kibibyte", None), "MiB": ("mebibyte", None), "GiB": ("gibibyte", None),
    "Mb": ("megabit", None), "Gb": ("gigabit", None),
    "bps": ("bit per second", "bits per second"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "Hz": ("hertz", "hertz"), "kHz": ("kilohertz", "kilohertz"),
    "MHz": ("megahertz", "megahertz"), "GHz": ("gigahertz", "gigahertz"),
    "dB": ("decibel", None), "W": ("watt", None), "kW": ("kilowatt", None),
    "MW": ("megawatt", None), "GW": ("gigawatt", None), "Wh": ("watt hour", None),
    "kWh": ("kilowatt hour", None), "MWh": ("megawatt hour", None), "V": ("volt", None),
    "mV": ("millivolt", None), "kV": ("kilovolt", None), "mA": ("milliamp", None),
    "mAh": ("milliamp hour", None), "Ω": ("ohm", None), "kΩ": ("kilohm", None),
    "Pa": ("pascal", None), "kPa": ("kilopascal", None), "hPa": ("hectopascal", None),
    "kJ": ("kilojoule", None), "MJ": ("megajoule", None), "kcal": ("kilocalorie", None),
    "cal": ("calorie", None), "kN": ("kilonewton", None), "Nm": ("newton meter", None),
    "px": ("pixel", None), "MP": ("megapixel", None), "hp": ("horsepower", "horsepower"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"), "°": ("degree", None),
    "%": ("percent", "percent"), "‰": ("per mille", "per mille"), "¢": ("cent", None),
}  # fmt: skip
DOTTED = word_set("in ft yd lb lbs oz min mins hr hrs sec secs gal qt tsp tbsp yr yrs mi")
POWERS = {
    "²": "square ",
    "2": "square ",
    "³": "cubic ",
    "3": "cubic ",
    "sq": "square ",
    "cu": "cubic ",
}
