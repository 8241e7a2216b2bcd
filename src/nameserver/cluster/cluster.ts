import type { Nameserver } from '../nameserver.ts'

/** A nameserver of a cluster, by the host and port of its API. */
export interface Member {
  name: string
  nameserver: Nameserver
  /** Whether it lacked zones when this process compared them last, though nothing is copied to it. */
  lacksZones?: boolean
}

/**
 * Nameservers of which one at a time, the active one, gets the changes (primaries.md). Postgres stores which; the
 * process follows. Nothing outside of this class assumes that there is one nameserver, or that it stays the same.
 */
export class Cluster {
  readonly members: readonly Member[]
  /** The active nameserver, which a change-over replaces. */
  readonly nameserver: Nameserver
  #active: Member
  #term: number | undefined

  /** @param members at least one, each with its own name */
  constructor(members: readonly Member[]) {
    this.members = members
    this.#active = members[0]!
    this.nameserver = members.length === 1 ? this.#active.nameserver : this.#following()
  }

  get active(): Member {
    return this.#active
  }

  /** The number of the change-over that this process has followed; undefined: there is only one member. */
  get term(): number | undefined {
    return this.#term
  }

  /** The members beside the active one, in order. */
  get standbys(): Member[] {
    return this.members.filter((member) => member !== this.#active)
  }

  /** Uses the member of a change-over from now on. @returns false if the cluster lacks it: then all stays as it was */
  follow({ term, name }: { term: number; name: string }): boolean {
    const member = this.members.find((each) => each.name === name)
    if (member === undefined) return false
    this.#active = member
    if (this.members.length > 1) this.#term = term
    return true
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map(({ nameserver }) => nameserver.close()))
  }

  /** Returns a nameserver whose every call and property is that of the member that is active at the time. */
  #following(): Nameserver {
    return new Proxy({} as Nameserver, {
      get: (_, property) => {
        const { nameserver } = this.#active
        const value: unknown = Reflect.get(nameserver, property)
        return typeof value === 'function' ? (value.bind(nameserver) as unknown) : value
      },
    })
  }
}
