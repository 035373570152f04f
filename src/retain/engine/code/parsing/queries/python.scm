(function_definition name: (identifier) @name body: (_) @body) @definition.function
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(type_alias_statement left: (type (_) @name)) @definition.type

(comment) @comment
(decorator) @attached

(module . (comment)* . (expression_statement . (string) @docstring .))
(function_definition body: (block . (comment)* . (expression_statement . (string) @docstring .)))
(class_definition body: (block . (comment)* . (expression_statement . (string) @docstring .)))

(call function: [(identifier) @reference (attribute attribute: (identifier) @reference)])
(decorator [(identifier) @reference (attribute attribute: (identifier) @reference)])
(class_definition superclasses: (argument_list [(identifier) @reference (attribute attribute: (identifier) @reference)]))
(type [(identifier) @reference (attribute attribute: (identifier) @reference)])
(generic_type . (identifier) @reference)
(import_statement name: (dotted_name (identifier) @reference))
(import_statement name: (aliased_import name: (dotted_name (identifier) @reference)))
(import_from_statement name: (dotted_name (identifier) @reference))
(import_from_statement name: (aliased_import name: (dotted_name (identifier) @reference)))
(import_from_statement module_name: (dotted_name (identifier) @reference))
(import_from_statement module_name: (relative_import (dotted_name (identifier) @reference)))
(raise_statement (identifier) @reference.capitalised)
(except_clause (identifier) @reference.capitalised)
(tuple (identifier) @reference.capitalised)
(as_pattern (identifier) @reference.capitalised)
(argument_list (identifier) @reference.capitalised)
(keyword_argument value: (identifier) @reference.capitalised)
(attribute object: (identifier) @reference.capitalised)
(binary_operator (identifier) @reference.capitalised)
(subscript (identifier) @reference.capitalised)
