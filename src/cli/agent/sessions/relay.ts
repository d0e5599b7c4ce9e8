import type { Socket } from 'node:net'

/** Two connections whose bytes are passed on to each other. */
export interface Relay {
  /** Bytes towards the target and from it, so far. */
  bytes(): RelayedBytes
  /** Cuts both at once; what is on its way is lost. */
  cut(): void
  /** Resolves when both are closed. */
  readonly closed: Promise<void>
}

export interface RelayedBytes {
  readonly in: number
  readonly out: number
}

/** Passes bytes on in both directions. The end of one direction leaves the other open; a failure of one connection ends both. */
export function relay(client: Socket, target: Socket): Relay {
  const cut = (): void => {
    client.resetAndDestroy()
    target.resetAndDestroy()
  }
  const closed = Promise.all([client, target].map(closing)).then(() => undefined)
  // An error is followed by `close`. A reset is passed on, since an end would claim that all bytes have arrived.
  client.on('error', () => target.resetAndDestroy())
  target.on('error', () => client.resetAndDestroy())
  client.on('close', () => target.destroySoon())
  target.on('close', () => client.destroySoon())
  client.pipe(target)
  target.pipe(client)
  return { bytes: () => ({ in: target.bytesWritten, out: target.bytesRead }), cut, closed }
}

function closing(socket: Socket): Promise<void> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()))
}
