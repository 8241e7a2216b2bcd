import type Koa from 'koa'
import type { Conditions } from '../service/zone/conditions.ts'

/** The preconditions in a request's headers (contract §15.1; RFC 9110 §13.1). Weak tags never match. */
export function conditions(ctx: Koa.Context): Conditions {
  const match = ctx.headers['if-match']
  return {
    match: match === undefined ? undefined : match.trim() === '*' ? '*' : strongTags(match),
    isNew: ctx.get('If-None-Match').trim() === '*',
  }
}

/** The strong tags in a list; empty if its syntax is wrong. */
function strongTags(list: string): string[] {
  const member = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`
  if (!new RegExp(`^[ \\t,]*${member}(?:[ \\t]*,[ \\t,]*${member})*[ \\t,]*$`).test(list)) return []
  return [...list.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag]) => (weak === undefined ? tag! : []))
}

/** Sets the `ETag` header, on which the client can make a later write conditional. */
export function setTag(ctx: Koa.Context, tag: string): void {
  ctx.set('ETag', `"${tag}"`)
}
