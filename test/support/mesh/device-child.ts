// Opens a device in the network namespace of this process and calls its methods for the parent: a line of JSON for each call
// on standard input, a line for each answer on standard output.
import { createInterface } from 'node:readline'
import { openDevice, removeDevice } from '../../../src/cli/agent/device/open-device.ts'
import type { Device } from '../../../src/cli/agent/device/device.ts'
import { CliError } from '../../../src/cli/errors/cli-error.ts'
import { type DeviceCall, revive } from './device-calls.ts'

let device: Device | undefined

function print(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

async function opened({ options }: Extract<DeviceCall, { readonly method: 'open' }>): Promise<unknown> {
  device = await openDevice({ ...options, onRestarted: () => print({ event: 'restarted' }) })
  return { kind: device.kind }
}

function carryOut(call: DeviceCall): Promise<unknown> {
  if (call.method === 'open') return opened(call)
  if (call.method === 'removeDevice') return removeDevice(call.options)
  if (device === undefined) throw new Error('The device is not open.')
  const methods: Readonly<Record<typeof call.method, (open: Device) => Promise<unknown>>> = {
    setPrivateKey: (open) => open.setPrivateKey(call.key ?? new Uint8Array()),
    change: (open) => open.change(call.change ?? { put: [], remove: [] }),
    status: (open) => open.status(),
    setAddress: (open) => open.setAddress(call.address ?? ''),
    setRoutes: (open) => open.setRoutes(call.cidrs ?? []),
    remove: (open) => open.remove(),
    close: (open) => open.close(),
  }
  return methods[call.method](device)
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    print({ answer: (await carryOut(JSON.parse(line, revive) as DeviceCall)) ?? null })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { code, exitCode, hints } = error instanceof CliError ? error : { code: 'bug', exitCode: 1, hints: [] }
    print({ fault: { message: error.message, code, exitCode, hints } })
  }
}
process.exit(0)
