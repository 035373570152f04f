(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_)? @body) @definition.class
(struct_declaration name: (identifier) @name body: (_) @body) @definition.struct
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.type
(method_declaration name: (identifier) @name body: (_) @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(local_function_statement name: (identifier) @name body: (_) @body) @definition.function

(namespace_declaration name: (_) @name) @scope
(file_scoped_namespace_declaration name: (_) @name) @scope.rest

(comment) @comment
(attribute_list) @attached

(invocation_expression function: [
  (identifier) @reference
  (generic_name (identifier) @reference)
  (member_access_expression name: (identifier) @reference)
  (member_access_expression name: (generic_name (identifier) @reference))
  (conditional_access_expression (member_binding_expression name: (identifier) @reference))
])
(object_creation_expression type: [(identifier) @reference (generic_name . (identifier) @reference)])
(base_list [(identifier) @reference (generic_name . (identifier) @reference)])
(base_list (primary_constructor_base_type type: (identifier) @reference))
(parameter type: [(identifier) @reference (nullable_type type: (identifier) @reference)])
(variable_declaration type: [(identifier) @reference (nullable_type type: (identifier) @reference)])
(property_declaration type: [(identifier) @reference (nullable_type type: (identifier) @reference)])
(method_declaration returns: [(identifier) @reference (nullable_type type: (identifier) @reference)])
(generic_name (identifier) @reference)
(type_argument_list (identifier) @reference)
(attribute name: (identifier) @reference)
(using_directive [(identifier) @reference (qualified_name name: (identifier) @reference)])
(member_access_expression expression: (identifier) @reference.capitalised)
(catch_declaration type: (identifier) @reference)
