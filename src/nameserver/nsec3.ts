import { createHash } from 'node:crypto'

const BASE32HEX = '0123456789abcdefghijklmnopqrstuv'

/** The label under which NSEC3 knows a name (RFC 5155 §5), with SHA-1, no salt and no extra iterations. */
export function nsec3Label(name: string): string {
  const hash = createHash('sha1').update(wire(name.toLowerCase()), 'latin1').digest()
  const bits = Array.from(hash, (octet) => octet.toString(2).padStart(8, '0')).join('')
  return bits.replace(/.{5}/g, (five) => BASE32HEX.charAt(parseInt(five, 2)))
}

/** The wire form of an absolute name without escapes, one character per octet. */
function wire(name: string): string {
  const labels = name.split('.').slice(0, -1)
  return labels.map((label) => String.fromCharCode(label.length) + label).join('') + '\0'
}
