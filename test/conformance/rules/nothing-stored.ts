import { expect } from 'vitest'
import type { Subject } from './rule.ts'

/** Times that a refusal is compared with what is stored: earlier calls may have started what still changes rows. */
const ATTEMPTS = 3

/** Asserts that a refusal changes no row, and announces nothing. It runs up to three times. */
export async function expectNothingStored({ world }: Subject, refuse: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const before = await world.stored()
    await refuse()
    const after = await world.stored()
    const changed = Object.keys(after).filter((table) => after[table] !== before[table])
    if (changed.length === 0) return
    if (attempt === ATTEMPTS) expect(changed, 'tables that the refusal changed').toEqual([])
  }
}
