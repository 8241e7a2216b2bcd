import { withoutDot } from '../../src/dns/names.ts'
import { counted } from '../rrsets/rrset.ts'

/** A nameserver that the service has asked for the version that it serves (contract §15.6). */
export interface Asked {
  name: string
  status: string
}

/** Which of the nameservers that were asked serve the domain as it is now: the name of the only one, or how many. */
export function serving(asked: Asked[]): string {
  const served = asked.filter(({ status }) => status === 'INSYNC').length
  const [only] = asked
  return asked.length === 1 && served === 1
    ? withoutDot(only!.name)
    : `${served} of ${counted(asked.length, 'nameserver')}`
}

/** Says how many of the domain's nameservers were not asked. @param names of its NS records, without final dot */
export function notAsked(asked: Asked[], names: string[]): string {
  const known = asked.map(({ name }) => withoutDot(name))
  const others = names.filter((name) => !known.includes(name.toLowerCase())).length
  return others === 0 ? '' : `, ${others} not asked`
}
