import type { Middleware } from '../context.ts'
import { described, STRING } from '../fields/schema.ts'
import { json } from '../openapi/answers.ts'
import type { Resource } from '../resource.ts'

/** The documents about the API (contract §15.2). @param show answers with one of them */
export function documents(show: (format: 'json' | 'yaml') => Middleware): Resource[] {
  const description =
    'OpenAPI 3.1, of exactly the resources that this server has by its settings. With `If-None-Match` and the `ETag` of ' +
    'an earlier response, the response is empty if nothing has changed.'
  return [
    {
      path: '/api/v1/openapi.json',
      guards: [],
      methods: {
        GET: {
          id: 'showDocument',
          summary: 'Show this document',
          description,
          answers: {
            200: { content: json({ type: 'object', examples: [{ openapi: '3.1.1' }] }), headers: ['ETag'] },
            304: { headers: ['ETag'] },
          },
          errors: { 503: [] },
          chain: [show('json')],
        },
      },
    },
    {
      path: '/api/v1/openapi.yaml',
      guards: [],
      methods: {
        GET: {
          id: 'showDocumentAsYaml',
          summary: 'Show this document as YAML',
          description,
          answers: {
            200: {
              content: { 'application/yaml': described(STRING, 'The same as YAML.', 'openapi: 3.1.1') },
              headers: ['ETag'],
            },
            304: { headers: ['ETag'] },
          },
          errors: { 503: [] },
          chain: [show('yaml')],
        },
      },
    },
  ]
}
