import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { acrOf } from './assurance.ts'
import { readForm } from './form.ts'
import { outcomeOf } from './form-handlers.ts'
import { notice, sendPage } from './pages/page.ts'
import { stepOf, validProgress, type Progress } from './progress.ts'
import type { InteractionDeps, Interaction } from './interaction-types.ts'
import { actionOf, pageOf } from './step-page.ts'

/** One request of an interaction. */
interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const GONE = notice(
  'This sign-in is over',
  'It took too long, or was begun in another browser. Go back to where you came from and begin again.',
)

/**
 * Leads a person through signing in, one page at a time. What was proven so far is kept on the server; a page that is
 * sent twice or out of order is answered with the current one.
 */
export function createInteractions(deps: InteractionDeps): (visit: Visit) => Promise<void> {
  const { provider, signIn, progress: store } = deps

  /** The current account, and the part of the progress that is still valid for it. */
  async function provenOf(stored: Progress): Promise<Pick<Interaction, 'progress' | 'account'>> {
    const account = stored.accountId === undefined ? undefined : await signIn.find(stored.accountId)
    const progress = validProgress(stored, account)
    return { progress, account: progress.accountId === undefined ? undefined : account }
  }

  async function load({ request, response }: Visit): Promise<Interaction | undefined> {
    const details = await detailsOf(provider, request, response)
    if (details === undefined) return undefined
    const { uid, params, exp } = details
    const wanted = typeof params['acr_values'] === 'string' ? params['acr_values'].split(' ').filter(Boolean) : []
    const secondsLeft = Math.max(1, exp - Math.floor(Date.now() / 1000))
    const proven = await provenOf(await store.read(uid))
    return { uid, wanted, ...proven, secondsLeft, sourceAddress: deps.clientAddress(request) }
  }

  /** Shows the page of the step, and stores what its answer needs. */
  async function show({ response }: Visit, interaction: Interaction, problem: string | undefined): Promise<void> {
    const step = stepOf(interaction.progress, interaction.account, interaction.wanted)
    const { page, progress } = await pageOf(deps, interaction, { step, problem })
    await store.write(interaction.uid, progress, interaction.secondsLeft)
    sendPage(response, { status: problem === undefined ? 200 : 400 }, page)
  }

  /** Hands over to the provider, which goes back to the relying party. */
  async function finish(
    { request, response }: Visit,
    { uid, progress, account, sourceAddress }: Interaction,
  ): Promise<void> {
    const { amr } = progress
    const isNoted = account !== undefined && (await signIn.complete({ accountId: account.id, sourceAddress, amr }))
    await store.forget(uid)
    if (account === undefined || !isNoted) return sendPage(response, { status: 400 }, GONE)
    const login = { accountId: account.id, acr: acrOf(amr), amr: [...amr], remember: false }
    await provider.interactionFinished(request, response, { login }, { mergeWithLastSubmission: false })
  }

  async function answer(visit: Visit, interaction: Interaction): Promise<void> {
    const fields = await readForm(visit.request)
    if (fields === undefined || !deps.guard.accepts(visit.request, interaction.uid, fields.get('csrf'))) {
      return sendPage(
        visit.response,
        { status: 403 },
        notice('That did not work', 'The form was not sent from our page. Go back and try again.'),
      )
    }
    // A passkey challenge is used once, whether or not this answer is right.
    const { challenge, ...kept } = interaction.progress
    const step = stepOf(interaction.progress, interaction.account, interaction.wanted)
    await store.write(interaction.uid, kept, interaction.secondsLeft)
    const outcome = await outcomeOf(deps, { ...interaction, progress: kept }, { fields, step, challenge })
    const next = { ...interaction, ...(await provenOf(outcome.progress)) }
    if (outcome.problem !== undefined) return show(visit, next, outcome.problem)
    if (stepOf(next.progress, next.account, next.wanted) === 'done') return finish(visit, next)
    await store.write(interaction.uid, next.progress, interaction.secondsLeft)
    // Answered with a redirect, so that going back or reloading sends nothing twice.
    visit.response.writeHead(303, { location: actionOf(interaction.uid), 'cache-control': 'no-store' }).end()
  }

  return async (visit) => {
    const interaction = await load(visit)
    if (interaction === undefined) return sendPage(visit.response, { status: 400 }, GONE)
    if (visit.request.method === 'POST') return answer(visit, interaction)
    return show(visit, interaction, undefined)
  }
}

type Details = Awaited<ReturnType<Provider['interactionDetails']>>

/** Undefined where the browser holds no cookie of a live interaction. */
async function detailsOf(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Details | undefined> {
  try {
    return await provider.interactionDetails(request, response)
  } catch (error) {
    if (error instanceof Error && error.name === 'SessionNotFound') return undefined
    throw error
  }
}
