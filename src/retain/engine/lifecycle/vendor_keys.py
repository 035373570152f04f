"""Keys that tell by their beginning whose they are: the beginnings, what may follow, and how much of it at least."""

import re
from collections.abc import Iterator

# Lengths are below the issuers' own: a token cut short by a copy is still most of a token.
# Each line: beginnings, the letters that follow, the least number of them.
W, H, L = r"[A-Za-z0-9_-]", r"[a-fA-F0-9]", r"[A-Za-z0-9]"
D = r"[A-Za-z0-9_.-]"
TABLE = (
    ("doo_v1_ dop_v1_ dor_v1_ sbp_ dapi shpat_ shpca_ shppa_ shpss_", H, 32),
    ("lin_api_ lin_oauth_ gsk_ xai- r8_ pplx- ntn_ rpa_ csk- fw_ tgp_v1_ pcsk_ jina_ voy- pa- tvly- fc- e2b_", W, 20),
    ("hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. sl. v1.public. pk.eyJ sk.eyJ t1. y0_", D, 24),
    ("AGE-SECRET-KEY-1 AGE-PLUGIN- PMAK- NRAK- NRII- NRBR- NRJS- NRRA- HRKU- CFPAT- FLWSECK- SK- EZAK EZTK", W, 20),
    ("ATATT3 ATCTT3 ATSTT3 ATBB glsa_ glc_ sntrys_ sntryu_ sntrya_ rubygems_ CCIPAT_ CCIPRJ_", r"[\w=+/-]", 20),
    ("bkua_ bkpt_ figd_ figu_ nfp_ nfc_ nfo_ rnd_ pscale_tkn_ pscale_pw_ pscale_oauth_ pul- tskey-auth-", W, 20),
    ("tskey-client- tskey-api- sqp_ squ_ sqa_ xkeysib- xsmtpsib- rzp_live_ rzp_test_ sb_secret_ lsv2_pt_", W, 16),
    ("lsv2_sk_ prefect_ pnu_ pnb_ dckr_pat_ dckr_oat_ glptt- GR1348941 ghv_ ghl_ apify_api_ duffel_live_", W, 16),
    ("phx_ phs_ rdme_ ico- aio_ tfp_ fio-u- CLOJARS_ cio AKCp oy2 re_ ops_ey api_org_ secret_ vcp_ vck_", W, 28),
    ("sq0csp- sq0atp- sq0idp- EAAA pat-na1- pat-eu1- sdk- api- access-production- access-sandbox-", W, 22),
    ("fo1_ fm1_ fm2_ fm1r_ live_ tok_live_ sk_ rk_ ak_ sess- key- key_ tk_ pk_prod_ sk_prod_ cfut_ v1.0-", W, 30),
    ("shippo_live_ EAACEdEose0cBA ion- zpka_ tr_prod_ tr_dev_ bu_ sgp_ cfk_", W, 24),
)
# Those whose parts are told apart by what stands between them.
WHOLE = (
    (":aa", r"\d{8,10}:AA[A-Za-z0-9_-]{30,}"),  # Telegram
    (":apa91b", r"AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{40,}"),  # Firebase
    (".", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),  # Discord
    ("pat", r"pat[A-Za-z0-9]{14}\.[A-Za-z0-9]{40,}"),  # Airtable
    (".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),  # Terraform Cloud
    ("-us", r"[a-f0-9]{32}-us\d{1,2}(?![A-Za-z0-9])"),  # Mailchimp
    ("q~", r"[A-Za-z0-9_]{3}[78]Q~[A-Za-z0-9_.~-]{28,}"),  # Microsoft Entra
    ("key-", r"key-[a-f0-9]{32}(?![A-Za-z0-9])"),  # Mailgun
    ("1/", r"1/\d{10,}:[a-f0-9]{32}"),  # Asana
    (
        "$1$ $5$ $6$ $y$ $7$ $apr1$ $2a$ $2b$ $2x$ $2y$ $2$ $argon2 $pbkdf2 $scrypt$ $p$ $h$ $s$",
        r"\$(?:1|5|6|y|7|apr1|2[abxy]?|argon2(?:id?|d)|pbkdf2(?:-sha\d+)?|scrypt|P|H|S)\$[A-Za-z0-9./$=,+-]{20,}",
    ),
    ("pbkdf2_", r"pbkdf2_sha\d+\$\d+\$[A-Za-z0-9]+\$[A-Za-z0-9+/=]{20,}"),
    ("{ss", r"\{SSHA(?:256|512)?\}[A-Za-z0-9+/=]{20,}"),
    ("{sha", r"\{SHA(?:256|512)?\}[A-Za-z0-9+/=]{20,}"),
)
# What may be broken by the end of a line; the others are too short to tell.
_BROKEN = """
    ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xapp- sk-ant- sk-proj- sk- sk_live_ sk_test_ rk_live_ AKIA
    AIza ya29. npm_ pypi- hf_ SG. dop_v1_ shpat_ dapi gsk_ hvs. ATATT3 glsa_ dckr_pat_ eyJ
"""
BROKEN = tuple(_BROKEN.split())


def rows() -> Iterator[tuple[str, str]]:
    """For each beginning what must be in the text, in lower case, and the expression."""
    for beginnings, letters, least in TABLE:
        for beginning in beginnings.split():
            yield beginning.lower(), f"{re.escape(beginning)}{letters}{{{least},}}"
