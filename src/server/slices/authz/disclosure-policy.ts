import { PLATFORM } from '../../../shared/ids.ts'
import { Pace, type Steps } from '../../../shared/steps.ts'
import type { TimeSlices } from '../../../shared/time-slices.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Authorizer, OwningDomain } from '../../ports/authorizer.ts'
import { andThen, wanting } from './question-context.ts'

/** What may be disclosed to a caller (decisions: Cross-tenant). Synchronous where the authorizer has the answer in memory. */
export interface DisclosurePolicy {
  /** Whether the caller may learn about both: they exist, and are in its own Domain unless it reads the platform. */
  mayDisclose(ctx: RequestContext, subject: string, resource: string): boolean | Promise<boolean>
  /** Whether the caller may learn about the one. */
  mayDiscloseAbout(ctx: RequestContext, reference: string): boolean | Promise<boolean>
  /**
   * Those of the objects that the caller may learn about, in their order; `<type>:*` names no object and stays. Many are
   * looked at in slices.
   */
  disclosableOf(ctx: RequestContext, references: readonly string[]): Promise<string[]>
  /** Whether the caller may read the object. Checked once for each object of a request. */
  readerOf(ctx: RequestContext): (reference: string) => Promise<boolean>
}

/** What lets long work wait for its turn. */
export interface DisclosureOptions {
  readonly mayBeStale: boolean
  readonly slices: TimeSlices
}

type Asked = OwningDomain | Promise<OwningDomain>

/** Objects whose Domains are looked up at once, where they are in memory. */
const TOGETHER_MAX = 1_000

/** `mayBeStale`: true for checks, which may be answered from a cache during an outage; other questions never are. */
export function createDisclosurePolicy(
  authorizer: Authorizer,
  { mayBeStale, slices }: DisclosureOptions,
): DisclosurePolicy {
  function readsPlatform({ caller, facts }: RequestContext): boolean | Promise<boolean> {
    const query = { subject: caller.subject, relation: 'read', resource: PLATFORM, facts, wantPath: false }
    return andThen(authorizer.check({ ...query, mayBeStale }), ({ allowed }) => allowed)
  }

  function domainOf({ caller }: RequestContext, reference: string): OwningDomain | Promise<OwningDomain> {
    return reference === caller.subject ? caller.domainId : authorizer.domainOf(reference)
  }

  function mayDiscloseAll(ctx: RequestContext, domains: readonly OwningDomain[]): boolean | Promise<boolean> {
    if (domains.includes(undefined)) return false
    return domains.every((domain) => domain === ctx.caller.domainId) || readsPlatform(ctx)
  }

  /** The Domains of the next objects: those in memory together, others one at a time. */
  function* domainsFrom(references: readonly string[], from: number): Steps<Asked[]> {
    const pace = new Pace()
    const domains: Asked[] = []
    for (const reference of references.slice(from, from + TOGETHER_MAX)) {
      const asked = authorizer.domainOf(reference)
      domains.push(asked)
      if (asked instanceof Promise) return domains
      if (pace.isDue()) yield
    }
    return domains
  }

  return {
    mayDisclose(ctx, subject, resource) {
      const subjectDomain = domainOf(ctx, subject)
      const resourceDomain = authorizer.domainOf(resource)
      const domains =
        subjectDomain instanceof Promise || resourceDomain instanceof Promise
          ? Promise.all([subjectDomain, resourceDomain])
          : [subjectDomain, resourceDomain]
      return andThen(domains, (known) => mayDiscloseAll(ctx, known))
    },
    mayDiscloseAbout: (ctx, reference) => andThen(domainOf(ctx, reference), (domain) => mayDiscloseAll(ctx, [domain])),
    async disclosableOf(ctx, references) {
      const readsAll = await readsPlatform(ctx)
      const disclosed: string[] = []
      for (let from = 0; from < references.length;) {
        const domains = await slices.run(domainsFrom(references, from), wanting(ctx))
        for (const asked of domains) {
          const reference = references[from++] ?? ''
          const domain = asked instanceof Promise ? await asked : asked
          const isDisclosed = domain !== undefined && (readsAll || domain === ctx.caller.domainId)
          if (isDisclosed || reference.endsWith(':*')) disclosed.push(reference)
        }
      }
      return disclosed
    },
    readerOf({ caller, facts }) {
      const asked = new Map<string, boolean>()
      return async (reference) => {
        const known = asked.get(reference)
        if (known !== undefined) return known
        const query = { subject: caller.subject, relation: 'read', resource: reference, facts, wantPath: false }
        const { allowed } = await authorizer.check(query)
        asked.set(reference, allowed)
        return allowed
      }
    },
  }
}
