import { createHash } from 'node:crypto'
import { answerEmpty, answerText } from '../kit/answer.ts'
import { conditions, setTag } from '../kit/terms.ts'
import { withEffect, type Middleware } from '../kit/context.ts'

/**
 * Serves a document in the forms in which it is asked for, each made once; to a client that has it already, 304
 * (RFC 9110 §13.1.2).
 */
export function showDocument(document: () => unknown): (format: 'json' | 'yaml') => Middleware {
  const print = {
    json: async () => JSON.stringify(document()),
    yaml: async () => (await import('yaml')).stringify(document(), { aliasDuplicateObjects: false }),
  }
  const make = async (format: 'json' | 'yaml') => {
    const octets = Buffer.from(await print[format]())
    return { octets, tag: createHash('sha256').update(octets).digest('base64url').slice(0, 22) }
  }
  return function show(format) {
    let made: ReturnType<typeof make> | undefined
    return withEffect({ reads: ['IfNoneMatchOfRead'] }, async function showDocument(ctx) {
      const { octets, tag } = await (made ??= make(format))
      const { noneMatch } = conditions(ctx)
      setTag(ctx, tag)
      if (noneMatch === '*' || noneMatch?.includes(tag) === true) answerEmpty(ctx, 304)
      else answerText(ctx, 200, octets, `application/${format}`)
    })
  }
}
