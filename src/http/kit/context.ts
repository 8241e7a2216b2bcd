import type { RouterContext } from '@koa/router'
import type Koa from 'koa'
import { Invalid } from '../../errors.ts'
import type { Access } from '../../service/actor.ts'
import type { Effect } from './effect.ts'

/**
 * The findings of the middleware before a handler about the request. The guards that authenticate set the actor;
 * `authenticateForDomain` and `findDomain` set the domain in the path, and `findHosts` that of `hosts`.
 */
export interface State extends Access {
  /** The path pattern of the resource, for the log. */
  route?: string
  /** True if responses are plain text, and GET writes (contract §10). */
  dyndns?: boolean
  /** True if errors have the form of PowerDNS' (contract §20.1). */
  powerdns?: boolean
  /** The user name of Basic authentication; set by `authenticateForUpdate`. */
  user?: string | undefined
  /** The host names to update; set by `findHosts`. */
  hosts: string[]
  /** The version of the domain that a write has published, if any; set by the handlers of writes. */
  version?: number | undefined
  /** Returns the parsed body, of plain text a string, or throws its error; set by `body`. */
  body: () => unknown
}

export type Context = RouterContext<State>
export type Middleware = Koa.Middleware<State, RouterContext<State>> & { effect?: Effect }

/** The context of the middleware outside the router. */
export type AppContext = Koa.ParameterizedContext<State>

/** Makes middleware that lets a request pass unless `check` throws. @param effect its description for the document */
export function guard(check: (ctx: Context) => unknown, effect: Effect): Middleware {
  return withEffect(effect, async function guard(ctx, next) {
    await check(ctx)
    await next()
  })
}

export function withEffect(effect: Effect, middleware: Middleware): Middleware {
  return Object.assign(middleware, { effect })
}

/** Returns the query parameters. Of a repeated one, only the last value counts, at its position (contract §1.1). */
export function parameters(ctx: Koa.Context): Map<string, string> {
  const last = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(ctx.querystring)) {
    last.delete(name)
    last.set(name, value)
  }
  return last
}

/** Returns the last value of a query parameter, if any (contract §1.1). */
export function parameter(ctx: Koa.Context, name: string): string | undefined {
  return parameters(ctx).get(name)
}

/** Returns the last values of these query parameters. */
export function parametersIn<Name extends string>(ctx: Koa.Context, names: Name[]): Record<Name, string | undefined> {
  const last = parameters(ctx)
  return Object.fromEntries(names.map((name) => [name, last.get(name)])) as Record<Name, string | undefined>
}

/** Returns whether a query parameter is `true`. @throws Invalid if it is neither that nor `false` */
export function flag(ctx: Koa.Context, name: string, usual = false): boolean {
  const value = parameter(ctx, name)
  if (!['true', 'false', undefined].includes(value)) throw Invalid.field(name, 'Must be a valid boolean.')
  return value === undefined ? usual : value === 'true'
}
