import type { ConditionVerdict } from '../../../shared/authz/engine/question.ts'
import { UndecidableError } from '../../../shared/authz/engine/undecidable.ts'
import type { Condition } from '../../../shared/authz/engine/edge-conditions.ts'
import { NO, YES } from '../../../shared/authz/engine/verdict.ts'
import { problem } from '../../../shared/problems.ts'
import type { CaveatFacts } from '../../ports/authorizer.ts'
import { caveatVerdicts, missingFields } from './caveats.ts'
import type { DomainSettings, SettingsCache } from './domain-settings.ts'

/** The facts about time and caller that caveats may read. */
export interface AskedFacts {
  readonly facts: CaveatFacts
  /** Names of the facts a caveat may read; absent: all known ones. */
  readonly allowedFacts?: ReadonlySet<string>
}

/** Domains whose settings must be read before the answer. */
export interface Needs {
  readonly needs: ReadonlySet<string>
}

/** Evaluates conditions with the facts of the server, and collects the Domains whose settings are needed and not cached. */
export interface ServerConditions {
  readonly holds: ConditionVerdict
  readonly needs: ReadonlySet<string> | undefined
  /** Whether any condition was evaluated: an answer without one does not depend on the time or the caller. */
  readonly wereAsked: boolean
  /** Fields that are missing to evaluate the condition's caveat. */
  readonly missing: (condition: Condition) => readonly string[]
}

/** Maximum of rounds of reading settings for one answer. A round reads all that were missing in the one before; groups seldom span two Domains. */
const ROUNDS_MAX = 16

/** Domains whose settings are read at the same time. */
const READS_AT_ONCE = 8

/** Settings as an answer reads them. */
type KnownSettings = Pick<SettingsCache, 'has' | 'get'>

/** The settings for an answer that takes several turns: of each Domain those that it read first. */
export function pinnedSettings(settings: SettingsCache): KnownSettings {
  const pinned = new Map<string, DomainSettings | undefined>()
  return {
    has(domainId) {
      if (!pinned.has(domainId) && settings.has(domainId)) pinned.set(domainId, settings.get(domainId))
      return pinned.has(domainId)
    },
    get: (domainId) => pinned.get(domainId),
  }
}

export function serverConditions(settings: KnownSettings, { facts, allowedFacts }: AskedFacts): ServerConditions {
  return new KnownConditions(settings, facts, allowedFacts)
}

/** A class: each check has one, and defining the getters of an object literal each time would cost a fifth of the check. */
class KnownConditions implements ServerConditions {
  needs: Set<string> | undefined
  wereAsked = false
  readonly holds: ConditionVerdict
  readonly #settings: KnownSettings
  readonly #facts: CaveatFacts
  readonly #allowedFacts: ReadonlySet<string> | undefined
  #verdictOf: ReturnType<typeof caveatVerdicts> | undefined

  constructor(settings: KnownSettings, facts: CaveatFacts, allowedFacts: ReadonlySet<string> | undefined) {
    this.#settings = settings
    this.#facts = facts
    this.#allowedFacts = allowedFacts
    this.holds = (condition) => this.#tell(condition)
  }

  missing({ caveat, domainId }: Condition): readonly string[] {
    const settings = domainId === null ? undefined : this.#settings.get(domainId)
    return caveat === undefined ? [] : missingFields(caveat, { facts: this.#facts, settings }, this.#allowedFacts)
  }

  #tell({ caveat, domainId, expiresAtMs }: Condition): ReturnType<ConditionVerdict> {
    this.wereAsked = true
    if (expiresAtMs <= this.#facts.nowMs) return NO
    if (caveat === undefined) return YES
    if (domainId !== null && !this.#settings.has(domainId)) (this.needs ??= new Set()).add(domainId)
    // Most checks meet no caveat.
    this.#verdictOf ??= caveatVerdicts(this.#facts, this.#allowedFacts)
    return this.#verdictOf(caveat, domainId === null ? undefined : this.#settings.get(domainId))
  }
}

export function isNeeds(answer: object): answer is Needs {
  return 'needs' in answer
}

/**
 * Answers synchronously where the settings are cached; else reads the missing ones and tries again.
 * @throws Problem `authz_unavailable` when they cannot be read.
 */
export function answered<T extends object>(settings: SettingsCache, attempt: () => T | Needs): T | Promise<T> {
  const answer = attempt()
  return isNeeds(answer) ? answeredLater(settings, attempt, answer) : answer
}

/** The same for attempts that may take several turns. */
export function answeredInTurns<T extends object>(
  settings: SettingsCache,
  attempt: () => T | Needs | Promise<T | Needs>,
): T | Promise<T> {
  const answer = attempt()
  if (!(answer instanceof Promise)) return isNeeds(answer) ? answeredLater(settings, attempt, answer) : answer
  return answer.then((known) => (isNeeds(known) ? answeredLater(settings, attempt, known) : known))
}

async function answeredLater<T extends object>(
  settings: SettingsCache,
  attempt: () => T | Needs | Promise<T | Needs>,
  first: Needs,
): Promise<T> {
  let { needs } = first
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await loadAll(settings, [...needs])
    const answer = await attempt()
    if (!isNeeds(answer)) return answer
    needs = answer.needs
  }
  throw problem('authz_unavailable')
}

async function loadAll(settings: SettingsCache, domainIds: readonly string[]): Promise<void> {
  for (let from = 0; from < domainIds.length; from += READS_AT_ONCE) {
    await Promise.all(domainIds.slice(from, from + READS_AT_ONCE).map((domainId) => settings.load(domainId)))
  }
}

/** Data that is nested too deep, or excludes itself, is answered with the only 500 that these operations declare. */
export function decided<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw undecidable(error)
  }
}

/** The error with which such an answer fails; other errors are returned as they are. */
export function undecidable(error: unknown): unknown {
  return error instanceof UndecidableError ? problem('internal', {}, error) : error
}
