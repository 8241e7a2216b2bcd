import { lowerCase, nameOf, withAncestors } from '../../src/dns/names.ts'
import type { RRset } from './rrset.ts'

/** The records at a name, by type; there are none at a name that only has others below it. */
export type Node = Partial<Record<string, string[]>>

/** The types whose last field names a host. */
const POINTING = ['CNAME', 'MX', 'NS', 'SRV']

/** The hosts that records name, if they are of a type that does. */
export function targetsOf({ type, records }: Pick<RRset, 'type' | 'records'>): string[] {
  return POINTING.includes(type) ? records.map((record) => record.slice(record.lastIndexOf(' ') + 1)) : []
}

/** The names of a domain, to ask as a resolver does. */
export class ZoneTree {
  readonly #domain: string
  readonly #nodes = new Map<string, Node>()

  constructor(rrsets: Iterable<RRset>, domain: string) {
    this.#domain = domain
    for (const { subname, type, records } of rrsets) {
      for (const name of [...withAncestors(subname), '']) if (!this.#nodes.has(name)) this.#nodes.set(name, {})
      this.#nodes.get(subname)![type] = records
    }
  }

  /** The records that answer for an absolute name (RFC 4592 §3.3); undefined if other servers know them. */
  at(name: string): Node | undefined {
    const end = `.${nameOf({ name: this.#domain }, '')}`
    const dotted = `.${lowerCase(name)}`
    if (!dotted.endsWith(end)) return undefined
    const [subname = '', ...above] = withAncestors(dotted.slice(1, -end.length))
    const node = this.#nodes.get(subname)
    const isAway = (subname !== '' && node?.['NS']) || above.some((each) => this.#has(each, 'NS', 'DNAME'))
    if (isAway || (subname !== '' && this.#has('', 'DNAME'))) return undefined
    if (node !== undefined) return node
    const encloser = above.find((each) => this.#nodes.has(each))
    return this.#nodes.get(encloser === undefined ? '*' : `*.${encloser}`) ?? {}
  }

  #has(subname: string, ...types: string[]): boolean {
    return types.some((type) => this.#nodes.get(subname)?.[type] !== undefined)
  }
}
