(method name: (_) @name body: (_)? @body) @definition.method
(singleton_method name: (_) @name body: (_)? @body) @definition.method
(class name: (_) @name body: (_)? @body) @definition.class
(module name: (_) @name body: (_)? @body) @definition.module
(assignment left: (constant) @name
  right: (call receiver: (constant) method: (identifier) block: (_ body: (_) @body))) @definition.class

(comment) @comment

(call method: (identifier) @reference)
(call method: (constant) @reference)
(constant) @reference.use
