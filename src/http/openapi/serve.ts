import { withEffect, type Middleware } from '../context.ts'
import { answerFixed, fixed, type Fixed } from '../fixed.ts'

/** Serves a document in the forms in which it is asked for. Each is made once. */
export function showDocument(document: () => unknown): (format: 'json' | 'yaml') => Middleware {
  const print = {
    json: async () => fixed('application/json', JSON.stringify(document())),
    yaml: async () => {
      const { stringify } = await import('yaml')
      return fixed('application/yaml', stringify(document(), { aliasDuplicateObjects: false }))
    },
  }
  return function show(format) {
    let printed: Promise<Fixed> | undefined
    return withEffect({ reads: ['IfNoneMatchOfRead'] }, async function showDocument(ctx) {
      answerFixed(ctx, await (printed ??= print[format]()))
    })
  }
}
