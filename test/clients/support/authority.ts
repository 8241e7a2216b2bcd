import { writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { generate } from 'selfsigned'

export interface Certificate {
  key: string
  cert: string
}

/** A certificate authority for one run; only programs that get its file trust it. */
export interface Authority {
  /** The file with its certificate, in PEM. */
  file: string
  /** A certificate for these names and addresses. @param until when it ends; default: in a year */
  issue(names: string[], until?: Date): Promise<Certificate>
}

export async function makeAuthority(folder: string): Promise<Authority> {
  const own = await generate([{ name: 'commonName', value: 'throw-away authority' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  const file = join(folder, 'authority.pem')
  writeFileSync(file, own.cert)
  return {
    file,
    async issue(names, until) {
      const altNames = names.map((name) =>
        isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name },
      )
      const { private: key, cert } = await generate([{ name: 'commonName', value: names[0]! }], {
        keyType: 'ec',
        algorithm: 'sha256',
        ...(until !== undefined && { notBeforeDate: new Date(until.getTime() - 86_400_000), notAfterDate: until }),
        ca: { key: own.private, cert: own.cert },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'keyUsage', digitalSignature: true },
          { name: 'extKeyUsage', serverAuth: true },
          { name: 'subjectAltName', altNames },
        ],
      })
      return { key, cert }
    },
  }
}
