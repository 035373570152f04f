(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name body: (_) @body) @definition.method
(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(enum_declaration name: (name) @name body: (_) @body) @definition.enum

(namespace_definition name: (namespace_name) @name body: (_)) @scope
(namespace_definition name: (namespace_name) @name !body) @scope.rest

(comment) @comment
(attribute_list) @attached

(function_call_expression function: [(name) @reference (qualified_name (name) @reference)])
(member_call_expression name: (name) @reference)
(nullsafe_member_call_expression name: (name) @reference)
(scoped_call_expression name: (name) @reference)
(scoped_call_expression scope: [(name) @reference (qualified_name (name) @reference)])
(class_constant_access_expression . [(name) @reference (qualified_name (name) @reference)])
(object_creation_expression [(name) @reference (qualified_name (name) @reference)])
(named_type [(name) @reference (qualified_name (name) @reference)])
(base_clause [(name) @reference (qualified_name (name) @reference)])
(class_interface_clause [(name) @reference (qualified_name (name) @reference)])
(use_declaration [(name) @reference (qualified_name (name) @reference)])
(namespace_use_clause [(name) @reference (qualified_name (name) @reference)])
(attribute [(name) @reference (qualified_name (name) @reference)])
