import type { Server as HttpServer } from 'node:http'
import { promisify } from 'node:util'
import type { Leadership } from '../jobs/leadership.ts'
import type { Assembly } from './assembly.ts'
import type { Backend } from './backend.ts'

/** Ends the running parts: requests first, for so many ms at most, then what they left to be written. */
export async function drain(
  { app, ops, health, services, audit, jobs }: Assembly & { readonly jobs: Leadership },
  requestsMs: number,
): Promise<void> {
  health.drain()
  await atMost(requestsMs, Promise.all([app.drain(requestsMs), services.drain(), jobs.stop()]))
  await Promise.all([services.flush(), audit.close()])
  if (ops !== undefined) await closeServer(ops)
}

/** Waits for the work, but no longer than so many ms. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

function closeServer(server: HttpServer): Promise<void> {
  server.closeAllConnections()
  return promisify(server.close.bind(server))()
}

/** Closes the adapters, those that use others first. */
export async function closeBackend({ feed, signer, engine, bus, secretStore, datastore }: Backend): Promise<void> {
  feed.stop()
  await signer.stop()
  await bus.close()
  await secretStore.close?.()
  await engine.close()
  await datastore.close()
}
