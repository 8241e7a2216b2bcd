const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** An id that no object has (RFC 9562 §5.9). */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Reports whether a text is a UUID in the API's spelling. No object has an id in another spelling. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
