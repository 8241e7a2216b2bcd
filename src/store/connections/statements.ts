interface Statement {
  /** The name under which each connection prepares the statement once. */
  name: string
  text: string
  order: string[]
}

/** All statements of the program by their SQL: few, because values are bound. */
const statements = new Map<string, Statement>()

/** Returns the statement of a text in which `:name` stands for the value of that binding. */
export function prepared(sql: string): Statement {
  const known = statements.get(sql)
  if (known !== undefined) return known
  const order: string[] = []
  const text = sql.replace(/(?<![:\w]):([a-zA-Z]+)/g, (_, binding: string) => {
    if (!order.includes(binding)) order.push(binding)
    return `$${order.indexOf(binding) + 1}`
  })
  const statement = { name: `zoneplane_${statements.size}`, text, order }
  statements.set(sql, statement)
  return statement
}
