interface Request {
  method: string
  url: string
  headers: Record<string, string>
  /** An array. */
  body: unknown[]
}

/**
 * The command that sends a request, for a POSIX shell. The token is that of the variable TOKEN. The body is on standard input,
 * where it may be longer than an argument.
 */
export function curlCommand({ method, url, headers, body }: Request): string {
  const options = Object.entries(headers).map(([name, value]) => `-H ${single(`${name}: ${value}`)}`)
  const parts = [`curl -X ${method} ${single(url)}`, '-H "Authorization: Token $TOKEN"', ...options, '--data-binary @-']
  // No line of JSON is the word that ends it.
  const json = `[${body.map((item) => `\n  ${JSON.stringify(item)}`).join(',')}\n]`
  return `${parts.join(' \\\n  ')} <<'END'\n${json}\nEND\n`
}

function single(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
