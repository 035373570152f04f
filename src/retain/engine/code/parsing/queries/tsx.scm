(jsx_opening_element name: (identifier) @reference.capitalised)
(jsx_opening_element name: (member_expression property: (_) @reference))
(jsx_self_closing_element name: (identifier) @reference.capitalised)
(jsx_self_closing_element name: (member_expression property: (_) @reference))
