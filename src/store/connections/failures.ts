const CONNECTION_CODES = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'EACCES',
]) // prettier-ignore

/** Whether an error of the driver means that Postgres cannot be reached now, is starting or stopping, or overloaded. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: string }).code ?? ''
  return (
    CONNECTION_CODES.has(code) ||
    // Classes 08: connection, 53: resources, 57: operator intervention; 25006: read-only, 25P03: idle in transaction,
    // 40001: serialization failure, 40P01: deadlock.
    /^(08|53|57)|^(25006|25P03|40001|40P01)$/.test(code) ||
    /^(Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client has encountered|Client was closed|Cannot use a pool)/.test(
      error.message,
    )
  )
}

/** An error for which `isUnavailable` holds: the server exists, but is not one to write to. */
export function notPrimary(message: string): Error {
  return Object.assign(new Error(message), { code: '25006' })
}
