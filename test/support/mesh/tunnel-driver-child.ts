// Runs tunnels of a bridge in the network namespace of this process for the parent: a line of JSON for each call on standard
// input, a line for each answer on standard output.
import { createInterface } from 'node:readline'
import { createIpsecDriver } from '../../../src/cli/agent/bridges/tunnels/ipsec/ipsec-driver.ts'
import { createOpenvpnDriver } from '../../../src/cli/agent/bridges/tunnels/openvpn/openvpn-driver.ts'
import type { TunnelDriver } from '../../../src/cli/agent/bridges/tunnels/tunnel-driver.ts'
import { runProgram, type RunProgram } from '../../../src/cli/agent/system/run-program.ts'
import { explained } from '../../../src/cli/agent/errors.ts'
import { revive } from './device-calls.ts'
import type { TunnelCall, TunnelSide } from './tunnel-driver-process.ts'

const side = JSON.parse(process.argv[2] ?? '') as TunnelSide
const make = { ipsec: createIpsecDriver, openvpn: createOpenvpnDriver }[side.kind]
/** A kernel without XFRM interfaces gets a TUN in the place of each, which carries nothing. */
const run: RunProgram = (program, args, options) => {
  const isXfrm = side.hasXfrmStandIn === true && args.includes('xfrm')
  return isXfrm
    ? runProgram('ip', ['tuntap', 'add', 'dev', args[3] ?? '', 'mode', 'tun'])
    : runProgram(program, args, options)
}
const driver = make({ run, owner: side.owner, folder: side.folder, mesh: () => side.mesh, log: () => undefined })

async function carryOut(call: TunnelCall, open: TunnelDriver): Promise<unknown> {
  if (call.method === 'apply') return open.apply(call.place, call.tunnel)
  if (call.method === 'close') return open.close()
  return open[call.method](call.interfaceName)
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await carryOut(JSON.parse(line, revive) as TunnelCall, driver).then(
    (value) => ({ answer: value ?? null }),
    (error: unknown) => ({ fault: explained(error) }),
  )
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
process.exit(0)
