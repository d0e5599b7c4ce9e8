import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect, rootCertificates, type PeerCertificate, type TLSSocket } from 'node:tls'
import { relative } from '../../output/cells.ts'
import { patienceMs } from '../../session/server-state.ts'
import { trustedBy } from '../../../client/transport.ts'
import type { Session } from '../../session/session.ts'
import { harmless } from '../../output/style.ts'
import { ok, problem, skipped, warning, type Finding } from './finding.ts'

/** Sooner than this, an expiry is worth a word. */
const SOON_MS = 14 * 86_400_000

/** Shakes hands and looks at what is shown; nothing is sent, whether it is trusted or not. */
export async function lookAtCertificate(session: Session, host: string): Promise<Finding> {
  await session.caller() // Says it when the file of --ca-file cannot be read.
  const { url } = await session.settings()
  const trust = trustedBy(await session.trustedAt(url.value), rootCertificates)
  const port = Number(new URL(url.value).port || 443)
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const socket = connect({ host, port, rejectUnauthorized: false, ...trust, ...servername })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(await patienceMs(session)) })
    return judge(socket, host, session.io.nowMs())
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (/^ERR_SSL|^EPROTO/.test(code))
      return problem('encryption', `what answers there does not speak TLS (${code})`, 'Use http:// for plain HTTP.')
    return skipped('encryption', 'no connection')
  } finally {
    socket.destroy()
  }
}

function judge(socket: TLSSocket, host: string, nowMs: number): Finding {
  const certificate = socket.getPeerCertificate()
  const [from, to] = [Date.parse(certificate.valid_from), Date.parse(certificate.valid_to)]
  const expiry = relative(new Date(to).toISOString(), nowMs)
  if (to <= nowMs)
    return problem(
      'encryption',
      `its certificate expired ${expiry}`,
      'Renew it; "ctl serve" reads --tls-cert and --tls-key again on SIGHUP.',
    )
  if (from > nowMs)
    return problem('encryption', 'its certificate is not valid yet', 'Look at the clocks of both machines.')
  const code = socket.authorized ? '' : codeOf(socket.authorizationError)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return problem(
      'encryption',
      `its certificate is for ${namesOf(certificate)}, not for ${host}`,
      'Use one of these names in --url, or a certificate that has this one.',
    )
  if (code !== '')
    return problem(
      'encryption',
      `its certificate is signed by an authority that is not known here (${code})`,
      'If that authority is yours: ctl contexts use NAME --ca-file FILE, or --ca-sha256 HEX; else use another certificate.',
    )
  const detail = `${socket.getProtocol() ?? 'TLS'}, its certificate expires ${expiry}`
  return to - nowMs < SOON_MS ? warning('encryption', detail, 'Renew it in time.') : ok('encryption', detail)
}

/** Typed as an Error, it is a text in fact. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

function namesOf({ subjectaltname, subject }: PeerCertificate): string {
  return harmless((subjectaltname ?? String(subject.CN)).replaceAll(/\b(?:DNS|IP Address):/g, ''))
}
