(function_definition name: (word) @name body: (_) @body) @definition.function

(comment) @comment

(command name: (command_name (word) @reference)
  (#not-match? @reference
    "^(return|exit|echo|printf|set|cd|shift|read|test|trap|eval|exec|true|false|break|continue|source|[.:])$"))
(command name: (command_name (word) @_source) argument: (word) @reference.path
  (#any-of? @_source "source" "."))
