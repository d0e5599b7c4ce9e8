/** The views of the console, by their names in the address. */
export const VIEWS = ['fleet', 'nodes', 'topology', 'approvals', 'violations', 'capacity', 'audit'] as const

export type ViewName = (typeof VIEWS)[number]

/** What the address asks for: `#/<Domain>/<view>/<id>?<filters>`. */
export interface Route {
  /** Slug of the Domain; that of the person where the address names none. */
  readonly domain: string | undefined
  readonly view: ViewName
  /** Of a node, in the view `nodes`. */
  readonly id: string | undefined
  readonly filters: Readonly<Record<string, string>>
}

/** Reads the fragment of an address. An unknown view is `fleet`. */
export function routeOf(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#?\/?/, '').split('?', 2)
  const [domain, view, id] = path.split('/').map(decoded)
  return {
    domain: domain === '' ? undefined : domain,
    view: VIEWS.find((name) => name === view) ?? 'fleet',
    id: id === '' ? undefined : id,
    filters: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The fragment of a route; empty filters are left out. */
export function fragmentOf({ domain, view, id, filters = {} }: Partial<Route> & Pick<Route, 'view'>): string {
  const path = [domain ?? '', view, ...(id === undefined ? [] : [id])].map(encodeURIComponent).join('/')
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''))
  return query.size === 0 ? `#/${path}` : `#/${path}?${query.toString()}`
}

/** A part of an address, decoded; as it is where it is mistyped. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
