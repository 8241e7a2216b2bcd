import type { Middleware } from '../kit/context.ts'
import { described, STRING, type JsonSchema } from '../fields/schema.ts'
import { json } from './answers.ts'
import { showAsset, showDocs } from '../pages/docs.ts'
import type { Resource } from '../kit/resource.ts'

const DOCUMENT: JsonSchema = { type: 'object', examples: [{ openapi: '3.1.1' }] }

/** The documents about the API (contract §15.2). @param show answers with one of them */
export function documents(show: (format: 'json' | 'yaml') => Middleware): Resource[] {
  const description =
    'OpenAPI 3.1, of exactly the resources that this server has by its settings. With `If-None-Match` and the `ETag` of ' +
    'an earlier response, the response is empty if nothing has changed.'
  return [
    {
      path: '/api/v1/openapi.json',
      guards: [],
      GET: {
        id: 'showDocument',
        summary: 'Show this document',
        description,
        answers: {
          200: { content: json(DOCUMENT), headers: ['ETag'] },
          304: { headers: ['ETag'] },
        },
        errors: { 503: [] },
        chain: [show('json')],
      },
    },
    {
      path: '/api/v1/openapi.yaml',
      guards: [],
      GET: {
        id: 'showDocumentAsYaml',
        summary: 'Show this document as YAML',
        description,
        answers: {
          200: {
            content: { 'application/yaml': DOCUMENT },
            headers: ['ETag'],
          },
          304: { headers: ['ETag'] },
        },
        errors: { 503: [] },
        chain: [show('yaml')],
      },
    },
    {
      path: '/api/v1/docs/',
      guards: [],
      GET: {
        id: 'showDocs',
        summary: 'Show this document as a page',
        description: 'The page can send requests, too, with a token that is typed there.',
        answers: {
          200: {
            content: { 'text/html': described(STRING, 'A page for browsers.', '<!doctype html>…') },
            headers: ['Content-Security-Policy', 'Referrer-Policy'],
          },
        },
        chain: [showDocs],
      },
    },
    {
      path: '/api/v1/docs/:asset',
      guards: [],
      GET: {
        id: 'showDocsAsset',
        summary: 'Show a part of the page',
        description: 'Compressed by gzip, whatever the request accepts.',
        answers: {
          200: {
            content: {
              'text/javascript': described(STRING, 'The program of the page.', 'SwaggerUIBundle = …'),
              'text/css': described(STRING, 'The style of the page.', '.swagger-ui { … }'),
            },
            headers: ['Content-Encoding', 'Cache-ControlOfAsset'],
          },
        },
        errors: { 404: [] },
        chain: [showAsset],
      },
    },
  ]
}
