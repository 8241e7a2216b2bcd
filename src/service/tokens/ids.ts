const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text is a UUID as the API writes it: anything else is the id of nothing. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
