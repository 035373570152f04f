"""Which of thirteen languages a text is in, as far as its script and its commonest words tell."""

_SCRIPTS = (("ko", "가", "힣"), ("ja", "ぁ", "ヿ"), ("zh", "一", "鿿"), ("ru", "А", "я"))
_COMMON = {
    "en": "the a an i is are was it its you we to do of in on for and or not no that this with at from if only my how",
    "de": "der die das und nicht ist wir mit auf ein eine bitte kannst auch nur noch bei den dem für ich aber dass",
    "es": "que el los las una para por con está pero como más también hay esto esta ya del al porque siempre",
    "fr": "les des est pas une pour dans que sur avec nous qui faut c'est mais aussi plus au du je on tu",
    "pt": "não que uma para com está mas por isso aqui também você já tem ser dos das ele pra o os",
    "it": "che non una per con sono è della il gli nel anche più questo come ma ho hai di lo",
    "nl": "het een van niet dat we op zijn met voor maar ook wel bij die dus hier nog deze geen",
    "pl": "nie się jest na że to do z jak w i po tylko też ale mamy tego od przez już",
    "tr": "bir ve bu için değil var yok mi da de çok şu ama gibi olarak ile biz artık sonra lazım",
}


def script_of(text: str) -> str | None:
    """The language whose script is not the Latin one, if most of a text, or much of it, is in such a script."""
    shares = ((name, sum(first <= letter <= last for letter in text)) for name, first, last in _SCRIPTS)
    return next((name for name, count in shares if count > 0.15 * len(text)), None)


def language_of(text: str) -> str:
    """By script, else by common words; `en` where nothing else is plain."""
    if name := script_of(text):
        return name
    words = text.lower().replace(",", " ").replace(".", " ").split()
    counts = {name: sum(word in common.split() for word in words) for name, common in _COMMON.items()}
    best = max(counts, key=lambda name: counts[name])  # English where as much speaks for it
    return best if counts[best] >= max(2, 0.13 * len(words)) else "en"
