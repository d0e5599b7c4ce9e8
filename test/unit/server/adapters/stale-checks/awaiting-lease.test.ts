import { expect, it, vi } from 'vitest'
import { awaitingLease, type LeasedEngine } from '../../../../../src/server/adapters/stale-checks/awaiting-lease.ts'
import type { CheckQuery, Decision } from '../../../../../src/server/ports/authorizer.ts'

const GRANT: Decision = { allowed: true, path: [] }
const CHECK: CheckQuery = {
  subject: 'user:ann',
  relation: 'read',
  resource: 'domain:home',
  facts: { nowMs: 0 },
  wantPath: false,
}

const LOOKUP = { relation: 'read', facts: { nowMs: 0 }, allowedFacts: new Set<string>() }

/** An engine behind a lease that lapses and comes back when the test says so. */
function start() {
  const state = { isFresh: true, renew: (_isRenewed: boolean): void => undefined }
  const check = vi.fn(() => GRANT)
  const engine: LeasedEngine = {
    authorizer: { kind: 'embedded', check, domainOf: () => 'home', pathOf: () => [], hasRelation: () => true },
    lookups: { resources: () => ['domain:home'], fewResources: () => ['home'], subjects: () => ['user:ann'] },
  }
  const feed = {
    isFresh: () => state.isFresh,
    untilFresh: () => new Promise<boolean>((resolve) => (state.renew = resolve)),
  }
  return { state, check, ...awaitingLease(engine, feed) }
}

it('answers at once while the lease holds', () => {
  expect(start().authorizer.check(CHECK)).toBe(GRANT)
})

it.each([true, false])('asks the engine once the lease has come back or will not: %s', async (isRenewed) => {
  const { state, check, authorizer } = start()
  state.isFresh = false
  const answer = authorizer.check(CHECK)
  expect(check).not.toHaveBeenCalled()
  state.renew(isRenewed)
  expect(await answer).toBe(GRANT)
})

it('lets questions for a home and for lists wait as well', async () => {
  const { state, authorizer, lookups } = start()
  state.isFresh = false
  for (const ask of [
    () => authorizer.domainOf('domain:home'),
    () => lookups.resources({ ...LOOKUP, subject: 'user:ann', resourceType: 'domain' }),
    () => lookups.subjects({ ...LOOKUP, resource: 'domain:home', subjectType: 'user' }),
  ]) {
    const answer = ask()
    expect(answer).toBeInstanceOf(Promise)
    state.renew(true)
    await answer
  }
})
