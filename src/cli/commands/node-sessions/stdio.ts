import { finished } from 'node:stream/promises'
import type { Socket } from 'node:net'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { ByteStreams } from '../../output/io.ts'

/** Passes the bytes of stdin and stdout through a connection until it ends. @throws CliError where it is cut. */
export async function relayStdio(socket: Socket, { input, output }: ByteStreams): Promise<void> {
  // The reader of stdout has gone: nothing is left to do.
  output.on('error', () => socket.destroy())
  input.pipe(socket)
  socket.pipe(output, { end: false })
  try {
    await finished(socket)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return
    throw new CliError('the connection was cut: the session was revoked or has ended, or the node is away', {
      exitCode: EXIT.unavailable,
      code: 'connection_cut',
      cause: error,
    })
  } finally {
    input.unpipe(socket)
    input.destroy()
  }
}
