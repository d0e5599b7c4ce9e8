import { createSession, type Session } from '../session/session.ts'
import { defineCommand, type Command, type CommandRow } from '../argv/command.ts'
import { parseDuration } from '../argv/duration.ts'
import { EXIT } from '../errors/exit-code.ts'
import { growTree, type Branch } from '../argv/tree.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'
import { readLine } from '../completion/line.ts'
import { createOfferCache } from '../completion/offer-cache.ts'
import { isOfLabels, labelOffers } from '../completion/label-offers.ts'
import type { Offer } from '../completion/offer.ts'
import { findOffers, fitting, isTypeable } from '../completion/offers.ts'
import { wantedBy, type Wanted } from '../completion/wanted.ts'

/** Seconds from the start of the process: after longer than this, a person has pressed the key again. */
const BUDGET_SECONDS = 0.3
const BUDGET_MS_MAX = 60_000
/** What an answer keeps of the budget for itself. */
const WRITING_MS = 20
/** Offers younger than this are not asked for again. */
const FRESH_MS = 15_000

/**
 * `ctl __complete fish 'ctl nodes show we'`: prints what the last word may be, one offer per line, a tab before what it
 * is; for bash without what it leaves alone. Says nothing else whatever happens: a completion that fails offers nothing.
 */
export const completeOver = (rows: (manifest: Manifest) => readonly CommandRow[]): Command =>
  defineCommand({
    raw: true,
    async run(session, { args }) {
      const seconds = parseDuration(session.io.env['CTL_COMPLETION_TIMEOUT'] ?? '') ?? BUDGET_SECONDS
      const leftMs = Math.min(seconds * 1000, BUDGET_MS_MAX) - WRITING_MS - (session.io.elapsedMs?.() ?? 0)
      const end = AbortSignal.timeout(Math.max(1, Math.ceil(leftMs)))
      try {
        await offer(session, { args, root: growTree(rows(session.manifest())) }, end)
      } catch {
        // Not signed in, no server, no such context, a line that cannot be read: nothing is offered.
      } finally {
        // A look-up of a host name, for one, cannot be called off.
        session.io.leave?.(EXIT.ok)
      }
    },
  })

interface Line {
  readonly args: readonly string[]
  /** Every command that there is. */
  readonly root: Branch
}

async function offer(session: Session, { args, root }: Line, end: AbortSignal): Promise<void> {
  const [shell, line = ''] = args
  const { words, brokenAt } = readLine(line)
  const wanted = await wantedBy(words.slice(1), root, session.manifest())
  if (wanted === undefined) return
  const offers = await offersFor(quiet(session, wanted, end), wanted, end)
  const cut = shell === 'bash' ? brokenAt : 0
  const { kept, offers: shown } = await shownOffers(wanted, offers)
  const lines = shown.map(({ value, hint }) => `${`${kept}${value}`.slice(cut)}\t${inOneLine(hint)}\n`)
  session.io.stdout.write(lines.join(''))
}

/** What completes the word begun, and what of the word stays in front of it. */
async function shownOffers(
  { noun, kept, begun }: Wanted,
  offers: readonly Offer[],
): Promise<{ readonly kept: string; readonly offers: readonly Offer[] }> {
  if (!isOfLabels(noun)) return { kept, offers: fitting(offers, begun) }
  const completed = await labelOffers(noun, offers, begun)
  return { kept: `${kept}${completed.kept}`, offers: completed.offers.filter(({ value }) => isTypeable(value)) }
}

function inOneLine(hint: string): string {
  return hint.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
}

/** The session of the line that is being typed: its server and credential, and no word to anybody. */
function quiet(session: Session, { flags }: Wanted, end: AbortSignal): Session {
  const { context, url, 'ca-file': caFile, 'token-file': tokenFile } = flags
  const shared = Object.fromEntries(
    Object.entries({ context, url, 'ca-file': caFile, 'token-file': tokenFile }).filter(([, value]) => value),
  )
  const stderr = { isTty: false, columns: 80, rows: 24, write: () => undefined }
  const io = { ...session.io, stderr, interrupted: end }
  return createSession({ io, version: session.version, manifest: () => session.manifest(), shared, flags })
}

async function offersFor(session: Session, wanted: Wanted, end: AbortSignal): Promise<readonly Offer[]> {
  const { noun, flags } = wanted
  if (noun === 'contexts') return found(session, wanted, end)
  // Of somebody else's tokens only those who type that flag know the names.
  if (noun === 'tokens' && flags['for'] !== undefined) return []
  const settings = await session.settings()
  const token = await settings.token()
  if (token === undefined) return []
  const places = [settings.domain.value, settings.project.value, flags['bridge']].map((place) => String(place ?? ''))
  const cached = isOfLabels(noun) ? 'labels' : noun
  return keptOr(session, [settings.url.value, token, cached, ...places], async () => {
    const offers = await found(session, wanted, end)
    return { offers, isWhole: !end.aborted }
  })
}

interface Asked {
  readonly offers: readonly Offer[]
  /** Nothing was cut off by the end of the budget. */
  readonly isWhole: boolean
}

/** From the cache while it is fresh; else asked for, and what is cached when that takes too long or fails. */
async function keptOr(session: Session, key: readonly string[], ask: () => Promise<Asked>): Promise<readonly Offer[]> {
  const cache = createOfferCache(session.io)
  const kept = await cache.read(key)
  if (kept && kept.ageMs < FRESH_MS) return kept.offers
  try {
    const { offers, isWhole } = await ask()
    if (!isWhole) return kept?.offers ?? offers
    // Where nothing can be kept, the next press of the key asks again.
    await cache.write(key, offers).catch(() => undefined)
    return offers
  } catch {
    return kept?.offers ?? []
  }
}

/** What was found until the end. */
async function found(session: Session, wanted: Wanted, end: AbortSignal): Promise<readonly Offer[]> {
  const offers: Offer[] = []
  const late = new Promise<void>((resolve) => end.addEventListener('abort', () => resolve(), { once: true }))
  await Promise.race([findOffers(session, wanted, (more) => offers.push(...more)), late])
  return offers
}
