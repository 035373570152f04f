"""The tables, as scoped.md names them and with what the other contracts need beside; a step for each version.

NULL stands for nothing: a field is there always. What must come back exactly as it was given, such as metadata,
is JSON text. Terms are made in Python, equal for every store, so the analyzer only splits on blanks.
No index is in the order of a datetime: the engine's keys have it as text, and sort 9:30:02 after 9:30:02.5. So
`happened` is the event_time in microseconds. And where an index has a further field, `<=` leaves out what is equal and
`>` may let it in: only `<` and `>=` hold.
An index is read forward only: backward, the engine in a folder takes 50 ms and more for what it has not merged yet. So
what is wanted newest, last or heaviest first is there as a negative number: `age`, `back`, `turned`, `recency`,
`lightness`.
A `text` is what is searched by words of a memory, in a table of its own: a match is read whole, and this one is small.
Its id is [session or '', position, number]: what was said around a memory is a range of ids, of which one takes a tenth
of the time that looking up its positions in an index does.
A link has the place and the state of its memory, which has many fields and takes twice as long to read.
`aged` names the entities that ever had a stale link: only between two of them can a relation be stale.
`counted_user` and `counted_place` are numbers made of the user and the place, for counting alone: see `counting.py`.
"""

from collections.abc import Sequence

MEMORY = """
DEFINE TABLE memory SCHEMAFULL;
DEFINE FIELD num ON memory TYPE int;
DEFINE FIELD content ON memory TYPE string;
DEFINE FIELD title ON memory TYPE string | null;
DEFINE FIELD title_key ON memory TYPE string | null;
DEFINE FIELD type ON memory TYPE string ASSERT $value IN ['episodic', 'semantic', 'procedural'];
DEFINE FIELD category ON memory TYPE string | null;
DEFINE FIELD scope ON memory TYPE string ASSERT $value IN ['session', 'project', 'user'];
DEFINE FIELD place ON memory TYPE string;
DEFINE FIELD user ON memory TYPE string;
DEFINE FIELD counted_user ON memory TYPE int;
DEFINE FIELD counted_place ON memory TYPE int;
DEFINE FIELD project ON memory TYPE string | null;
DEFINE FIELD session_id ON memory TYPE string | null;
DEFINE FIELD agent ON memory TYPE string | null;
DEFINE FIELD tags ON memory TYPE array<string>;
DEFINE FIELD tag_keys ON memory TYPE array<string>;
DEFINE FIELD tag_words ON memory TYPE string | null;
DEFINE FIELD importance ON memory TYPE float;
DEFINE FIELD source ON memory TYPE object FLEXIBLE;
DEFINE FIELD metadata ON memory TYPE string;
DEFINE FIELD created_at ON memory TYPE datetime;
DEFINE FIELD updated_at ON memory TYPE datetime;
DEFINE FIELD event_time ON memory TYPE datetime;
DEFINE FIELD happened ON memory TYPE int;
DEFINE FIELD valid_from ON memory TYPE datetime;
DEFINE FIELD valid_until ON memory TYPE datetime | null;
DEFINE FIELD state ON memory TYPE string;
DEFINE FIELD state_reason ON memory TYPE string | null;
DEFINE FIELD state_since ON memory TYPE datetime | null;
DEFINE FIELD successor ON memory TYPE string | null;
DEFINE FIELD consolidated ON memory TYPE bool;
DEFINE FIELD derived_from ON memory TYPE array<string>;
DEFINE FIELD sources ON memory TYPE int;
DEFINE FIELD reinforced ON memory TYPE int;
DEFINE FIELD reinforced_at ON memory TYPE datetime | null;
DEFINE FIELD version ON memory TYPE int;
DEFINE FIELD fingerprint ON memory TYPE string;
DEFINE FIELD position ON memory TYPE int;
DEFINE FIELD changed ON memory TYPE int;
DEFINE FIELD words ON memory TYPE string;
DEFINE FIELD model ON memory TYPE string | null;
DEFINE FIELD chunks_missing ON memory TYPE int;
DEFINE FIELD signs ON memory TYPE array<bytes>;
DEFINE INDEX memory_twin ON memory FIELDS place, fingerprint;
DEFINE INDEX memory_titled ON memory FIELDS place, title_key;
DEFINE FIELD age ON memory TYPE int VALUE -happened;
DEFINE FIELD back ON memory TYPE int VALUE -num;
DEFINE FIELD turned ON memory TYPE int VALUE -position;
DEFINE INDEX memory_newest ON memory FIELDS place, state, age, back;
DEFINE INDEX memory_owned ON memory FIELDS user, project;
DEFINE INDEX memory_counted ON memory FIELDS counted_user, state, scope, type, counted_place;
DEFINE INDEX memory_said ON memory FIELDS session_id, turned;
DEFINE INDEX memory_changed ON memory FIELDS changed;
DEFINE INDEX memory_made ON memory FIELDS sources;
DEFINE INDEX memory_embedded ON memory FIELDS model, chunks_missing, num;
DEFINE ANALYZER blanks TOKENIZERS blank;
DEFINE TABLE text SCHEMAFULL;
DEFINE FIELD memory ON text TYPE record<memory>;
DEFINE FIELD num ON text TYPE int;
DEFINE FIELD place ON text TYPE string;
DEFINE FIELD state ON text TYPE string;
DEFINE FIELD words ON text TYPE string;
DEFINE FIELD tags ON text TYPE string | null;
DEFINE INDEX text_words ON text FIELDS words FULLTEXT ANALYZER blanks BM25;
DEFINE INDEX text_tags ON text FIELDS tags FULLTEXT ANALYZER blanks BM25;
DEFINE TABLE access SCHEMAFULL;
DEFINE FIELD count ON access TYPE int;
DEFINE FIELD last ON access TYPE datetime;
DEFINE TABLE memory_history SCHEMAFULL;
DEFINE FIELD memory ON memory_history TYPE string;
DEFINE FIELD version ON memory_history TYPE int;
DEFINE FIELD event ON memory_history TYPE string;
DEFINE FIELD content ON memory_history TYPE string;
DEFINE FIELD importance ON memory_history TYPE float;
DEFINE FIELD tags ON memory_history TYPE array<string>;
DEFINE FIELD scope ON memory_history TYPE string;
DEFINE FIELD changed_at ON memory_history TYPE datetime;
DEFINE FIELD reason ON memory_history TYPE string | null;
DEFINE FIELD rest ON memory_history TYPE string | null;
DEFINE INDEX history_memory ON memory_history FIELDS memory;
DEFINE TABLE tombstone SCHEMAFULL;
DEFINE FIELD num ON tombstone TYPE int;
DEFINE FIELD user ON tombstone TYPE string;
DEFINE FIELD at ON tombstone TYPE datetime;
DEFINE FIELD changed ON tombstone TYPE int;
DEFINE INDEX tombstone_changed ON tombstone FIELDS changed;
DEFINE TABLE term SCHEMAFULL;
DEFINE FIELD n ON term TYPE int;
DEFINE TABLE model SCHEMAFULL;
DEFINE FIELD dimensions ON model TYPE int;
DEFINE TABLE vector SCHEMAFULL;
DEFINE FIELD memory ON vector TYPE string;
DEFINE FIELD numbers ON vector TYPE bytes;
"""

GRAPH = """
DEFINE TABLE entity SCHEMAFULL;
DEFINE FIELD num ON entity TYPE int;
DEFINE FIELD owner ON entity TYPE string;
DEFINE FIELD counted_user ON entity TYPE int;
DEFINE FIELD name ON entity TYPE string;
DEFINE FIELD folded ON entity TYPE string;
DEFINE FIELD type ON entity TYPE string;
DEFINE FIELD folded_type ON entity TYPE string;
DEFINE FIELD created_at ON entity TYPE datetime;
DEFINE FIELD description ON entity TYPE string | null;
DEFINE FIELD stated ON entity TYPE bool;
DEFINE INDEX entity_key ON entity FIELDS owner, folded, folded_type UNIQUE;
DEFINE INDEX entity_name ON entity FIELDS folded;
DEFINE INDEX entity_counted ON entity FIELDS counted_user;
DEFINE TABLE memory_entity TYPE RELATION IN memory OUT entity SCHEMAFULL;
DEFINE FIELD relationship ON memory_entity TYPE string;
DEFINE FIELD created_at ON memory_entity TYPE datetime;
DEFINE FIELD by_rule ON memory_entity TYPE bool;
DEFINE FIELD stale ON memory_entity TYPE bool;
DEFINE FIELD place ON memory_entity TYPE string;
DEFINE FIELD state ON memory_entity TYPE string;
DEFINE INDEX link_memory ON memory_entity FIELDS in;
DEFINE FIELD recency ON memory_entity TYPE int;
DEFINE INDEX link_newest ON memory_entity FIELDS out, recency;
DEFINE INDEX link_stale ON memory_entity FIELDS stale, out;
DEFINE INDEX link_said ON memory_entity FIELDS relationship, out;
DEFINE TABLE aged SCHEMAFULL;
DEFINE TABLE relates_to TYPE RELATION IN entity OUT entity SCHEMAFULL;
DEFINE FIELD relationship ON relates_to TYPE string;
DEFINE FIELD created_at ON relates_to TYPE datetime;
DEFINE FIELD weight ON relates_to TYPE float;
DEFINE FIELD by_rule ON relates_to TYPE bool;
DEFINE FIELD valid_from ON relates_to TYPE datetime | null;
DEFINE FIELD valid_until ON relates_to TYPE datetime | null;
DEFINE FIELD counted_user ON relates_to TYPE int VALUE in.counted_user ?? 0;
DEFINE FIELD lightness ON relates_to TYPE float VALUE -weight;
DEFINE INDEX relation_outgoing ON relates_to FIELDS in, lightness;
DEFINE INDEX relation_incoming ON relates_to FIELDS out, lightness;
DEFINE INDEX relation_counted ON relates_to FIELDS counted_user;
DEFINE TABLE contradiction SCHEMAFULL;
DEFINE FIELD older ON contradiction TYPE string;
DEFINE FIELD newer ON contradiction TYPE string;
DEFINE FIELD kind ON contradiction TYPE string;
DEFINE FIELD detail ON contradiction TYPE string;
DEFINE FIELD found ON contradiction TYPE datetime;
DEFINE FIELD by_rule ON contradiction TYPE bool;
DEFINE FIELD state ON contradiction TYPE string;
DEFINE FIELD winner ON contradiction TYPE string | null;
DEFINE FIELD conditions ON contradiction TYPE string | null;
DEFINE FIELD explanation ON contradiction TYPE string | null;
DEFINE FIELD resolved ON contradiction TYPE datetime | null;
DEFINE FIELD resolved_by ON contradiction TYPE string | null;
DEFINE INDEX contradiction_pair ON contradiction FIELDS older, newer UNIQUE;
DEFINE INDEX contradiction_newer ON contradiction FIELDS newer;
DEFINE INDEX contradiction_found ON contradiction FIELDS state, found;
DEFINE TABLE tie SCHEMAFULL;
DEFINE FIELD source ON tie TYPE string;
DEFINE FIELD target ON tie TYPE string;
DEFINE FIELD type ON tie TYPE string;
DEFINE FIELD created_at ON tie TYPE datetime;
DEFINE FIELD strength ON tie TYPE float;
DEFINE INDEX tie_source ON tie FIELDS source;
DEFINE INDEX tie_target ON tie FIELDS target;
"""

SESSIONS = """
DEFINE TABLE project SCHEMAFULL;
DEFINE FIELD slug ON project TYPE string;
DEFINE FIELD path ON project TYPE string;
DEFINE FIELD created_at ON project TYPE datetime;
DEFINE INDEX project_slug ON project FIELDS slug UNIQUE;
DEFINE INDEX project_path ON project FIELDS path;
DEFINE TABLE profile SCHEMAFULL;
DEFINE FIELD project ON profile TYPE string;
DEFINE FIELD user ON profile TYPE string;
DEFINE FIELD name ON profile TYPE string;
DEFINE FIELD name_key ON profile TYPE string;
DEFINE FIELD description ON profile TYPE string | null;
DEFINE FIELD created_at ON profile TYPE datetime;
DEFINE FIELD updated_at ON profile TYPE datetime;
DEFINE INDEX profile_name ON profile FIELDS user, name_key UNIQUE;
DEFINE TABLE work SCHEMAFULL;
DEFINE FIELD key ON work TYPE string;
DEFINE FIELD user ON work TYPE string;
DEFINE FIELD project ON work TYPE string;
DEFINE FIELD title ON work TYPE string;
DEFINE FIELD description ON work TYPE string | null;
DEFINE FIELD tags ON work TYPE array<string>;
DEFINE FIELD state ON work TYPE string;
DEFINE FIELD started_at ON work TYPE datetime;
DEFINE FIELD ended_at ON work TYPE datetime | null;
DEFINE INDEX work_project ON work FIELDS user, project, state;
DEFINE TABLE session SCHEMAFULL;
DEFINE FIELD key ON session TYPE string;
DEFINE FIELD user ON session TYPE string;
DEFINE FIELD project ON session TYPE string | null;
DEFINE FIELD started_at ON session TYPE datetime;
DEFINE FIELD ended_at ON session TYPE datetime | null;
DEFINE FIELD summary ON session TYPE string | null;
DEFINE FIELD recalls ON session TYPE int;
DEFINE FIELD reflected ON session TYPE bool;
DEFINE INDEX session_reflected ON session FIELDS user, reflected, project;
DEFINE TABLE served SCHEMAFULL;
DEFINE FIELD session ON served TYPE string;
DEFINE FIELD user ON served TYPE string;
DEFINE FIELD memory ON served TYPE string;
DEFINE INDEX served_session ON served FIELDS session, user;
DEFINE INDEX served_memory ON served FIELDS memory;
DEFINE TABLE run SCHEMAFULL;
DEFINE FIELD scope ON run TYPE string;
DEFINE FIELD strategy ON run TYPE string;
DEFINE FIELD at ON run TYPE datetime;
DEFINE FIELD made ON run TYPE array<string>;
DEFINE FIELD sources ON run TYPE array<string>;
DEFINE FIELD analysed ON run TYPE int;
DEFINE FIELD undone ON run TYPE datetime | null;
DEFINE FIELD metrics ON run TYPE string;
DEFINE INDEX run_scope ON run FIELDS scope;
DEFINE TABLE cursor SCHEMAFULL;
DEFINE FIELD session ON cursor TYPE string;
DEFINE FIELD offset ON cursor TYPE int;
DEFINE FIELD last ON cursor TYPE string | null;
DEFINE FIELD project ON cursor TYPE string | null;
DEFINE FIELD user ON cursor TYPE string;
DEFINE FIELD extractions ON cursor TYPE int;
DEFINE FIELD at ON cursor TYPE datetime;
DEFINE INDEX cursor_last ON cursor FIELDS last;
DEFINE TABLE asked SCHEMAFULL;
DEFINE FIELD user ON asked TYPE string;
DEFINE FIELD project ON asked TYPE string;
DEFINE FIELD key ON asked TYPE string;
DEFINE FIELD text ON asked TYPE string;
DEFINE FIELD terms ON asked TYPE string;
DEFINE FIELD times ON asked TYPE int;
DEFINE FIELD found ON asked TYPE int;
DEFINE FIELD last ON asked TYPE datetime;
DEFINE INDEX asked_where ON asked FIELDS user, project;
"""

# What is asked for by the hundred is read by its id, or by a range of ids: files and outlines are [index, path],
# words [index, bucket of terms, block of chunks, language], references [index, folded name, path, name, language].
# An entry is what there is of a chunk by number, without its text.
CODE = """
DEFINE TABLE code_index SCHEMAFULL;
DEFINE FIELD project ON code_index TYPE string;
DEFINE FIELD user ON code_index TYPE string;
DEFINE FIELD status ON code_index TYPE string;
DEFINE FIELD total_files ON code_index TYPE int;
DEFINE FIELD indexed_files ON code_index TYPE int;
DEFINE FIELD total_chunks ON code_index TYPE int;
DEFINE FIELD embedded_chunks ON code_index TYPE int;
DEFINE FIELD skipped ON code_index TYPE string;
DEFINE FIELD started ON code_index TYPE datetime | null;
DEFINE FIELD completed ON code_index TYPE datetime | null;
DEFINE FIELD error ON code_index TYPE string | null;
DEFINE FIELD holder ON code_index TYPE string | null;
DEFINE FIELD beat ON code_index TYPE datetime | null;
DEFINE FIELD change ON code_index TYPE int;
DEFINE FIELD held ON code_index TYPE object;
DEFINE FIELD held.files ON code_index TYPE int;
DEFINE FIELD held.chunks ON code_index TYPE int;
DEFINE FIELD held.embedded ON code_index TYPE int;
DEFINE FIELD held.terms ON code_index TYPE int;
DEFINE INDEX code_index_user ON code_index FIELDS user;
DEFINE TABLE code_file SCHEMAFULL;
DEFINE FIELD language ON code_file TYPE string;
DEFINE FIELD digest ON code_file TYPE string;
DEFINE FIELD size ON code_file TYPE int;
DEFINE FIELD modified ON code_file TYPE int;
DEFINE TABLE code_outline SCHEMAFULL;
DEFINE FIELD chunks ON code_outline TYPE string;
DEFINE FIELD uses ON code_outline TYPE string;
DEFINE TABLE code_chunk SCHEMAFULL;
DEFINE FIELD num ON code_chunk TYPE int;
DEFINE FIELD owner ON code_chunk TYPE string;
DEFINE FIELD path ON code_chunk TYPE string;
DEFINE FIELD language ON code_chunk TYPE string;
DEFINE FIELD kind ON code_chunk TYPE string;
DEFINE FIELD name ON code_chunk TYPE string;
DEFINE FIELD parent ON code_chunk TYPE string;
DEFINE FIELD signature ON code_chunk TYPE string;
DEFINE FIELD doc ON code_chunk TYPE string;
DEFINE FIELD text ON code_chunk TYPE string;
DEFINE FIELD start_line ON code_chunk TYPE int;
DEFINE FIELD end_line ON code_chunk TYPE int;
DEFINE FIELD part ON code_chunk TYPE int;
DEFINE FIELD last_name ON code_chunk TYPE string;
DEFINE FIELD full_name ON code_chunk TYPE string;
DEFINE FIELD words ON code_chunk TYPE string;
DEFINE FIELD length ON code_chunk TYPE int;
DEFINE INDEX code_chunk_named ON code_chunk FIELDS owner, last_name;
DEFINE TABLE code_entry SCHEMAFULL;
DEFINE FIELD num ON code_entry TYPE int;
DEFINE FIELD chunk ON code_entry TYPE string;
DEFINE FIELD owner ON code_entry TYPE string;
DEFINE FIELD language ON code_entry TYPE string;
DEFINE FIELD model ON code_entry TYPE string | null;
DEFINE FIELD signs ON code_entry TYPE array<bytes>;
DEFINE FIELD changed ON code_entry TYPE int;
DEFINE INDEX code_entry_embedded ON code_entry FIELDS owner, model, num;
DEFINE INDEX code_entry_changed ON code_entry FIELDS changed;
DEFINE TABLE code_words SCHEMAFULL;
DEFINE FIELD held ON code_words TYPE object FLEXIBLE;
DEFINE TABLE code_reference SCHEMAFULL;
DEFINE TABLE code_vector SCHEMAFULL;
DEFINE FIELD chunk ON code_vector TYPE string;
DEFINE FIELD numbers ON code_vector TYPE bytes;
DEFINE TABLE code_gone SCHEMAFULL;
DEFINE FIELD changed ON code_gone TYPE int;
DEFINE INDEX code_gone_changed ON code_gone FIELDS changed;
"""

# What every write and every cache goes by. The life is another one for each database: between two, change numbers
# say nothing. `applied` names the plans that are in, so that one that is sent twice is written once.
COUNTERS = """
DEFINE TABLE counter SCHEMALESS;
CREATE counter:change SET value = 0, documents = 0, length = 0, bytes = 100000;
CREATE counter:code SET value = 0, forgotten = 0, gone = 0;
CREATE counter:code_chunks SET value = 0;
CREATE counter:life SET value = rand::uuid::v7().to_string();
DEFINE TABLE applied SCHEMAFULL;
DEFINE FIELD change ON applied TYPE int;
DEFINE FIELD at ON applied TYPE datetime;
DEFINE INDEX applied_at ON applied FIELDS at;
"""

# Made by who reads, so there are none at first: see `pages.py`. The id is the change after which a page begins.
PAGES = """
DEFINE TABLE sign_page SCHEMAFULL;
DEFINE FIELD upto ON sign_page TYPE int;
DEFINE FIELD form ON sign_page TYPE int;
DEFINE FIELD nums ON sign_page TYPE array<int>;
DEFINE FIELD rows ON sign_page TYPE bytes;
CREATE counter:pages SET value = 0;
"""

# For edges that a process keeps: see `kept_edges.py`. Relations that are there need no number: nobody keeps them yet.
CHANGES = """
DEFINE FIELD changed ON relates_to TYPE option<int>;
DEFINE INDEX relation_changed ON relates_to FIELDS changed;
CREATE counter:cut SET value = 0;
DEFINE EVENT entity_cut ON entity WHEN $event = 'DELETE' THEN {
    UPDATE counter:cut SET value = counter:change.value RETURN NONE;
};
"""

# What a person has ended is no longer a rule's, so no rule brings it back: see `domain/graph.py`.
ENDED = "UPDATE relates_to SET by_rule = false WHERE valid_until != NULL RETURN NONE;"

# Whether a memory was held against what is near it. Of those from before nobody asks.
COMPARED = """
DEFINE FIELD IF NOT EXISTS compared ON memory TYPE option<bool>;
DEFINE INDEX IF NOT EXISTS memory_compared ON memory FIELDS compared;
"""

# Append only: a step that has run somewhere is never changed.
STEPS: Sequence[tuple[str, str]] = (
    ("m001_tables", MEMORY + GRAPH + SESSIONS + CODE + COUNTERS),
    ("m002_pages", PAGES),
    ("m003_changes", CHANGES),
    ("m004_ended", ENDED),
    ("m005_compared", COMPARED),
)
