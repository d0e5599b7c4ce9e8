import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { patienceMs } from '../../session/server-state.ts'
import type { Session } from '../../session/session.ts'
import { isLoopback } from './loopback.ts'
import { lookAtCertificate } from './look-at-certificate.ts'
import { ok, problem, type Finding } from './finding.ts'

/** How the server is reached: its name, and what protects the way there. */
export async function lookAtAddress(session: Session): Promise<readonly Finding[]> {
  await session.caller() // Throws a usage error where the address is none.
  const { url } = await session.settings()
  if (url.value.startsWith('unix:')) return [ok('address', url.value), ok('encryption', 'not needed on this machine')]
  const { protocol, hostname } = new URL(url.value)
  const host = hostname.replace(/^\[|\]$/g, '')
  const address = await resolved(host, url.value, await patienceMs(session))
  if (address.status === 'problem') return [address]
  if (protocol === 'https:') return [address, await lookAtCertificate(session, host)]
  return [
    address,
    isLoopback(hostname)
      ? ok('encryption', 'not needed on this machine')
      : problem('encryption', `${url.value} is plain HTTP beyond this machine`, 'Use https, or an encrypted tunnel.'),
  ]
}

async function resolved(host: string, url: string, timeoutMs: number): Promise<Finding> {
  if (isIP(host) !== 0) return ok('address', url)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('ETIMEOUT')), timeoutMs)
  })
  try {
    const found = await Promise.race([lookup(host, { all: true }), late])
    return ok('address', `${url} (${found.map(({ address }) => address).join(', ')})`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'ETIMEOUT'
    return problem('address', `${host} does not resolve (${code})`, 'Check the spelling of --url and the name servers.')
  } finally {
    clearTimeout(timer)
  }
}
