"""What happened, as against what holds: another run, another number, and both are true."""

import re
from functools import lru_cache

_HAPPENED = frozenset({"event"})
_STATES = (  # what holds since then
    r"(?!(?:raised|lowered|increased|reduced|bumped|extended|shortened|cut|pushed|postponed|upgraded|downgraded"
    r"|moved|switched|migrated|changed|replaced|renamed|dropped|removed|deleted|retired|swapped|superseded"
    r"|turned|disabled|enabled|(?:de)?activated|converted|ported|stopped|decided|agreed|chose|adopted|need|embed"
    r"|speed|feed|shed|used|based"
    r"|licensed|named|called|handed|transferred|promoted|appointed|assigned|relicensed|deprecated|banned|allowed"
    r"|limited"
    r"|capped|pinned|configured|scheduled|hosted|stored|owned|released under|transitioned|raised|standardi[sz]ed"
    r"|settled"
    r"|abandoned|ditched|scrapped|slipped|delayed|supported|left|went (?:from|with|back)|unified|lifted|split"
    r"|shifted|set|put|kept|merged (?:into|with)"
    r"|made (?:it|them|the \w+ \w+))\b)"
)
_DID = (
    r"(?:ran|took|met|wrote|spent|saw|found|told|spoke|had|went|did|got|began|broke|built|caught|came|gave|sent|sat"
    r"|paid"
    r"|lost|won|held|read|tried|fell|flew|drove|bought|brought|taught|thought|fought|shut|made|lunch|coffee|dinner|call"
    r"|meeting|chat|pairing|paired|talked|worked|looked|chatted|synced|walked|travell?ed)"
)
_EVENT = re.compile(
    rf"^{_STATES}{_DID}\s+(?:a|an|the|our|my|his|her|this|that|into|with|on|through|at|for|to|over|some|[0-9]+"
    rf"|(?-i:[A-Z]\w+))\b"
    r"|^(?:(?:I|we|they|he|she|\w+) )?(?:fixed|added|released (?!under|as|by)|deployed (?!on|to|with|via|by)|met|merged"
    r"|introduced|reported|discussed|finished|completed|shipped|reviewed|debugged|investigated|implemented|refactored"
    r"|published (?!under|to|on|as|by)|tagged|created|opened (?!by|to|with|in)|closed (?!by|to|with|in|on)|filed"
    r"|resolved|reopened|visited|tried|asked|told|mentioned|wrote|noted|talked)\b"
    rf"|^{_STATES}(?:re)?\w+ed\s+(?:back\s+|up\s+|out\s+|down\s+)?"
    r"(?:a|an|the|our|my|his|her|this|that|some|support|[0-9#]+|(?-i:[A-Z]\w+(?:'s)?))\b"
    rf"|^(?:I|we|they|he|she|(?!(?:The|Our|This|All|Each|Every|An?)\b)(?-i:[A-Z]\w+)|the (?:team|\w+ team))\s+"
    rf"(?:just\s+|finally\s+|also\s+|then\s+)?{_STATES}(?:\w\w+(?<!e)ed|{_DID})\s+"
    r"(?:a|an|the|our|my|his|her|this|how|that|about|with|whether|for|to|at|up|us|me|it|[0-9]+|(?-i:[A-Z]\w+(?:'s)?))\b"
    r"|\b(?:took|lasted|scored|passed|ended with|introduced|stabili[sz]ed|adds|added|started in|crashed|timed out after"
    r"|went (?:well|badly|fine|down|live)|turned up"
    r"|returned (?:a|an|[0-9]+)|came (?:in|back|up)|measured at)\b"
    r"|\bis (?:(?:away|out|off|sick|ill|travell?ing|busy)\b(?! of)|on (?:holidays?|vacation|leave|parental|sick|a"
    r" trip|a break)"
    r"|(?:looking|working|digging|investigating|pairing|sitting|struggling|reviewing|debugging|writing|fixing"
    r"|testing)\b)"
    # "The build failed", not "a failed build".
    r"|(?<=[a-z0-9`] )(?<!\ba )(?<!\ban )(?<!\bthe )(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bno )(?<!\bof )"
    r"(?:failed|succeeded|finished|completed|happened|occurred|spent)\b"
    r"|\b(?:% done|percent done|so far today)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=2048)  # both ways of reading ask
def events(sentence: str) -> frozenset[str]:
    """The mark of what happened, as against what holds: "ran the profiler: 34 ms", "Ada is on holiday"."""
    return _HAPPENED if _EVENT.search(sentence) else frozenset()
