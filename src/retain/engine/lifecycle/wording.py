"""In how many ways the same is said: data for the softer reading of statements, no decisions. Keys are stems."""

from retain.domain.stem import stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(form for word in text.split() for form in (word, stem(word)))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _classes(text: str) -> dict[str, str]:
    """Every word and stem of a line stands for the first word of that line."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {form: line[0] for line in lines for word in line for form in (stem(word), word)}


# Words that stand for one another, however different their stems.
SAME = _classes(
    """
    use used uses using usage utilise utilize
    keep retain store save kept stored saved storage retention hold held
    send deliver ship sent delivery post submit
    write written wrote
    start begin launch begun begins kick
    authentication auth login log-in authenticate
    configuration config configs
    repository repo repositories repos
    production prod
    development dev
    database db databases
    documentation docs doc
    maximum max most
    limit limited cap capped limits ceiling exceed capacity
    minimum min least
    lead leads led leader head heads
    own owner owned owns ownership responsible responsibility charge
    review reviewer reviewed reviews
    approve approval approvals approver approved
    license licence licensed licensing
    folder directory dir
    sort sorted sorting
    encode encoded encoding serialize serialized serialise serialised
    expire ttl expiry lifetime expires
    retry retries retried attempt attempts
    sample sampling sampled samples
    name named call called
    pr pull-request prs
    user users
    cache cached caching caches
    process handle handled processed processes
    provide provided powered
    build built compile compiled compiler
    bundle bundled bundling bundler
    deploy deploys deployment deployments deployed
    dependency dependencies
    draw drawn render rendered renders
    format formatted formatter
    check checked checks lint linted linter linters linting
    error errors exception exceptions
    throw raise raises throws thrown
    return returns gives give answers answer
    contact ask
    log logs logging logged
    migration migrations migrate
    test tests testing tested
    schedule scheduled
    export exported exports
    import imported imports importer
    key keys
    encrypt encrypted encryption encrypts
    state status
    machine host
    e2e end-to-end
    acknowledge ack acks acked acknowledges
    wide width
    string strings text
    add added adds adding
    refresh update updated refreshed
    remove removed removal removes
    container containers
    memory ram
    scan scanned
    separate separator separators separated delimiter
    generate generated generation generator
    restrict restricted
    require requires required
    confirm confirmation confirmed
    grant granted grants
    create creation creating created creates
    delete deletion deleting deleted deletes
    upload uploads uploaded uploading
    british uk en-gb
    validate validation validated validates
    register registration registered signup
    install installation installed installs
    compress compression compressed compresses
    replicate replication replicated
    notify notification notified notifications
    allocate allocation allocated
    communicate talk talks
    """
)
# Verbs that tie a subject to a value and say little themselves: another one does not make another statement.
TIES = _stems(
    """use run listen happen live reside sit keep need require prefer want write go expire return read load send
    push point default belong take handle serve bind expose expect show name draw check connect follow target
    set get do make put come find found locate contain hold have has be become move switch migrate change
    convert upgrade downgrade bump port rewrite rewritten rename raise lower increase reduce stay remain end
    land place give process provide manage host build bundle format style generate publish pin wire power
    deliver start begin stop talk reach hit allow let lead own maintain contact report work support wrap resize
    indent emit produce create result look see ask tell log sort execute perform apply leave enter fill pull
    fetch lie cut merge deploy open close install compile license release distribute turn reset answer respond
    rotate sample measure rebuild store commit define declare spell type treat act occur swap replace drop
    retire supersede retain version value set-up ship last run-on go-out now currently today always everywhere
    please only just still also instead fully directly itself anymore longer again yet already simply basically
    actually well really exactly plain one thing way fine case number amount level size rate count total main
    current new available given particular plan planned back spin later newer earlier ahead forward soon usually
    normally typically generally often mostly entirely completely properly early"""
) | _words("is are was were been being must should used using us set up out off on done throw")
# Ties that do say what is done: whoever denies one of them has not denied another.
_ACTIONS = """
    read write send load push expire return keep log report publish open close install merge deploy sort fetch
    pull check draw create release start stop rotate show expose format build run-on contain commit train sample license
"""
ACTIONS = _stems(_ACTIONS) & TIES
# Said of several things at once: what supports one version or knows one language may as well another.
OPEN = _stems(
    """support include contain accept offer know speak learn depend mention add introduce have has like love hate
    interest test work touch cover fix mention"""
)
# Of these there is one who does it.
OFFICES = _stems(
    """lead own maintain manage review approve process handle run host provide power serve responsible coordinate chair
    grant deliver sign decide confirm merge terminate schedule render set generate draw check send supply"""
)
# Nouns too wide to tell one subject from another.
WIDE = _stems(
    """server service app application project system codebase code component team user everything value setting
    option file data everyone people all every each both whole entire any our we endpoint object type
    string entry item element record row result box instance environment software tool library item stuff part
    version process step time number name place location repository period window source model hour limit
    engine format order field mode list thing support day issue change call function method program script parameter
    argument column flag header property attribute connection rule requirement
    product company site website table platform it us year per developer contributor maximum minimum threshold length"""
)
# One of a line here, and another there or none, makes another statement.
CONTRASTS = _classes(
    """
    staging stage preprod
    production prod
    development dev
    ci pipeline-only
    locally laptop localhost
    sandbox
    canary
    yesterday
    tomorrow
    next
    old
    legacy
    anonymous guest guests
    admin admins administrators
    free
    pro
    enterprise
    desktop
    mobile
    left
    right
    replica replicas
    weekend weekends
    internal
    external
    """
)
# What says yes or no to a whole statement: with "off", "fails" or "forbidden" it is denied as with "not".
YES = _stems(
    """enable on active activate allow permit support work handle accept available exist fine ok okay possible shown
    show expose visible survive tolerate cope harmless reachable legal welcome running true"""
) | {"up", "enabled", "activated", "allowed", "permitted"}
NO = _stems(
    "disable inactive deactivate forbid prohibit ban disallow unsupported unavailable impossible absent"
) | _words(
    """off forbidden blocked fails fail failing failed breaks break broken crashes crash crashed chokes rejects
    rejected removed gone dropped missing ignores ignored skips skipped hidden hides avoid avoids refuses lacks
    lack retired abandoned discontinued decommissioned suppressed illegal stopped unreachable denied denies
    removes outside ended ceased false idle skip ignore reject refuse hide deny remove drop"""
)
NOT = _words("not no never none nobody nothing neither nor without hardly")
SCOPES = _words(
    """for in on during when if unless while except within under inside outside of from until after before between
    across among"""
)
CONDITIONS = _words("if when unless while except during until")
MUST = _stems("must need require required mandatory obligatory compulsory necessary enforce needed shall")
MAY = _words("optional optionally voluntary")  # as written: "option" has the same stem
POLAR = YES | NO | NOT | MUST | MAY
# Where one has the first and the other the second, one denies the other.
_OPPOSITE = """
    public/private sync/async synchronous/asynchronous synchronously/asynchronously before/after open/closed
    true/false fast/slow parallel/sequential parallel/serial concurrent/sequential automatic/manual
    automatically/manually automatically/hand automated/manual automated/manually internal/external include/exclude
    succeed/fail increase/decrease ascending/descending increasing/decreasing asc/desc encrypted/plaintext
    encrypted/unencrypted hashed/plaintext detailed/brief detailed/concise long/short verbose/concise verbose/terse
    static/dynamic strict/lenient strict/loose online/offline stateful/stateless eager/lazy inbound/outbound
    like/dislike like/hate love/hate cheap/expensive everyone/nobody all/none blocking/non-blocking light/dark
    high/low hard/soft push/pull uppercase/lowercase upper/lower first/last newest/oldest single/multiple
    relative/absolute formal/informal hot/cold early/late more/less singular/plural single-threaded/multi-threaded
    explicit/implicit mutable/immutable stable/unstable big-endian/little-endian client/server
    client-side/server-side full/incremental temporary/permanent soft/permanent sensitive/insensitive
    case-sensitive/case-insensitive memory/disk deterministic/flaky once/repeatedly native/hybrid
    structured/unstructured compressed/uncompressed signed/unsigned safe/unsafe complete/incomplete
    reversible/irreversible required/optional valid/invalid protected/unprotected read-only/writable
    monorepo/polyrepo beginner/expert beginners/experts generated/handwritten generated/hand automatically/human
    shared/own shared/separate shared/dedicated any/restricted nightly/hourly blue/red eagerly/lazily eager/lazily
    eagerly/lazy eager/lazi tolerate/error manual/generate manually/generate hand/cron hand/bot manually/cron
    manually/bot hand/automatic server/browser client/backend green/red real/mocked real/fake real/mock
    whitelist/blacklist opt-in/opt-out accept/reject immediately/delayed everyone/maintainer
    multi-tenant/single-tenant experienced/beginner bare-metal/virtual mandatory/discouraged encouraged/discouraged
    new/old thread/multi continuous/batch text/binary local/remote inside/outside single/multi synchronously/async
    keep/delete write-through/write-back write-through/write-behind depth-first/breadth-first top-down/bottom-up
    left-to-right/right-to-left in-memory/on-disk copy-on-write/in-place hard-coded/configurable fixed/variable
    optimistic/pessimistic horizontal/vertical centralized/distributed active-active/active-passive
    zero-based/one-based consecutive/random ordered/unordered signed/anonymous persistent/ephemeral persistent/in-memory
    buffered/unbuffered cumulative/incremental inclusive/exclusive paid/free strong/eventual serial/parallel
    strip/preserve strips/preserves remote/office remote/on-site open-source/proprietary open-source/closed-source
    at-least-once/exactly-once at-least-once/at-most-once row-based/columnar unlimited/limited unlimited/capped
"""
COMPOUNDS = frozenset(word for pair in _OPPOSITE.split() for word in pair.split("/") if "-" in word)
OPPOSITE = {
    frozenset((one, other))
    for a, b in (pair.split("/") for pair in _OPPOSITE.split())
    for one in {a, stem(a), stem(a + "ly"), SAME.get(a, a)}
    for other in {b, stem(b), stem(b + "ly"), SAME.get(b, b)}
}

# Units in which something is given: "durations are in seconds" against "in milliseconds".
MEASURES = {
    form: group
    for group, words in {
        "unit of time": "second millisecond microsecond nanosecond minute hour",
        "unit of length": "mile kilometre kilometer metre meter foot feet inch centimetre millimetre mm cm km",
        "unit of temperature": "celsius fahrenheit kelvin",
        "unit of money": "dollar euro cent pound yen usd eur gbp",
        "unit of weight": "gram kilogram kg ounce lb pounds",
        "unit of angle": "degree radian",
        "unit of size": "byte kilobyte megabyte bit pixel rem em px",
    }.items()
    for word in words.split()
    for form in (word, stem(word), word + "s", word + "es")
}
MORE_GROUPS = {
    "format": "json xml yaml toml csv protobuf msgpack messagepack ini avro parquet pickle onnx bson markdown html pdf",
    "image format": "png jpeg jpg webp gif svg avif",
    "natural language": "english german french spanish italian dutch portuguese japanese chinese polish russian",
    "license": "mit apache-2.0 apache gpl gpl-3.0 gpl-2.0 agpl agpl-3.0 lgpl bsd mpl bsl isc proprietary",
    "type": "string integer int float decimal uuid uuidv4 uuidv7 boolean bigint enum double varchar ulid",
    "frequency": "hourly daily nightly weekly biweekly monthly quarterly yearly",
    "separator": "comma semicolon pipe",
    "distance": "cosine euclidean manhattan",
    "day": "monday tuesday wednesday thursday friday saturday sunday",
}
GROUP_WORDS = {
    form: group for group, words in MORE_GROUPS.items() for word in words.split() for form in (word, word + "s")
}

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)

# What is counted without being a measure of its own: "retried 3 times", "3 attempts", "50 items per page".
COUNTS = _stems(
    "time item entry entries row result attempt retry retries element record x people person reviewer approval"
)
DIMENSIONS: dict[str, tuple[str, float]] = {
    "hz": ("frequency", 1), "khz": ("frequency", 1e3), "mhz": ("frequency", 1e6), "ghz": ("frequency", 1e9),
    "v": ("voltage", 1), "volt": ("voltage", 1), "mv": ("voltage", 1e-3),
    "%": ("percent", 1), "percent": ("percent", 1),
    "kbit": ("bit rate", 1e3), "mbit": ("bit rate", 1e6), "baud": ("bit rate", 1), "px": ("pixel", 1),
    "mi": ("size", 2**20), "gi": ("size", 2**30), "k": ("thousand", 1e3), "eur": ("money", 1), "usd": ("money", 1),
}  # fmt: skip
EVERY = {"hourly": 3600, "daily": 86400, "nightly": 86400, "weekly": 604800, "biweekly": 1209600, "monthly": 2592000,
         "quarterly": 7776000, "yearly": 31536000, "annually": 31536000, "fortnightly": 1209600}  # fmt: skip
