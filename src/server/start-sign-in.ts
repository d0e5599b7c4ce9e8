import type { StartSignIn as StartFromPage } from './device-flow/signed-out.ts'
import type { Cookie } from './http/cookies.ts'
import type { UnitOfWork } from './ports/unit-of-work.ts'
import type { StartSignIn } from './sign-in/start.ts'

/** Lets a page begin a sign-in as the operation does: the same rows, the same audit row, and the cookie for the page to set. */
export function startFromPages(start: StartSignIn, unitOfWork: UnitOfWork): StartFromPage {
  return async ({ where, returnTo, maxAgeSeconds, visit }) => {
    const cookies: Cookie[] = []
    let object = 'platform:main'
    let domainId: string | null = null
    const audit = () => ({
      domainId,
      subject: visit.session?.subject ?? 'anonymous',
      relation: 'auth.sign_in.start',
      object,
      outcome: 'granted' as const,
      reason: 'granted',
      correlationId: visit.correlationId,
      context: {},
    })
    const context: Parameters<StartSignIn>[0] = {
      nowMs: visit.nowMs,
      about(reference, id) {
        object = reference
        domainId = id ?? null
      },
      change: (work) => unitOfWork.run({ pool: 'interactive', correlationId: visit.correlationId, audit }, work),
      cookie: (cookie) => void cookies.push(cookie),
      // Pages say what may be kept of them by themselves.
      header: () => undefined,
    }
    const { authorization_url: location } = await start(context, {
      ...where,
      return_to: returnTo,
      max_age_seconds: maxAgeSeconds,
    })
    return { location, cookies }
  }
}
