import { describe, expect, it } from 'vitest'
import { createWgDriver, readDump } from '../../../../../src/cli/agent/device/wg.ts'
import type { RunProgram } from '../../../../../src/cli/agent/system/run-program.ts'

const KEY = `${'A'.repeat(42)}E=`
const SECRET = Buffer.alloc(32, 7)
const OWN = [KEY, KEY, '51820', 'off'].join('\t')

describe('wg', () => {
  it('prints the device and its peers', () => {
    const one = [
      KEY,
      SECRET.toString('base64'),
      '[fd99::1]:51820',
      '10.7.0.2/32,fd00::/64',
      '1764306000',
      '20',
      '10',
      '25',
    ]
    const other = [KEY, '(none)', '(none)', '(none)', '0', '0', '0', 'off']
    expect(readDump(`${[OWN, one.join('\t'), other.join('\t')].join('\n')}\n`)).toEqual({
      privateKey: Buffer.from(KEY, 'base64'),
      listenPort: 51_820,
      peers: [
        {
          publicKey: KEY,
          presharedKey: SECRET,
          hasPresharedKey: true,
          endpoint: '[fd99::1]:51820',
          latestHandshakeMs: 1_764_306_000_000,
          receivedBytes: 20,
          sentBytes: 10,
          keepaliveSeconds: 25,
          allowedIps: ['10.7.0.2/32', 'fd00::/64'],
        },
        {
          publicKey: KEY,
          presharedKey: undefined,
          hasPresharedKey: false,
          endpoint: undefined,
          latestHandshakeMs: undefined,
          receivedBytes: 0,
          sentBytes: 0,
          keepaliveSeconds: 0,
          allowedIps: [],
        },
      ],
    })
  })

  it.each([
    ['', 'the interface'],
    ['Usage: wg', 'the interface'],
    [`${KEY}\t${KEY}\tmany\toff`, 'a number'],
    [`key\t${KEY}\t1\toff`, 'a key'],
    [`${OWN}\nrubbish`, 'a peer'],
    [`${OWN}\nkey\t(none)\t(none)\t(none)\t0\t0\t0\toff`, 'a peer'],
    [`${OWN}\n${KEY}\tkey\t(none)\t(none)\t0\t0\t0\toff`, 'a key'],
    [`${OWN}\n${KEY}\t(none)\t(none)\t(none)\t0\t0\t-1\toff`, 'a number'],
  ])('is not what prints %j', (dump, what) => {
    expect(() => readDump(dump)).toThrow(`wg show printed something that is not its format: ${what}.`)
  })

  it('gets secret keys on its standard input, and none as an argument', async () => {
    const calls: { readonly args: string; readonly stdin: unknown }[] = []
    const run: RunProgram = async (program, args, options) => {
      calls.push({ args: [program, ...args].join(' '), stdin: options?.stdin })
      return { stdout: '', stderr: '', exitCode: 0 }
    }
    const fresh = { publicKey: KEY, isAdded: true, presharedKey: SECRET, allowedIps: { wanted: ['10.7.0.2/32'] } }
    await createWgDriver('ctl0', run).edit({
      privateKey: SECRET,
      listenPort: 1,
      peers: [
        { publicKey: KEY, isRemoved: true },
        { ...fresh, keepaliveSeconds: 25 },
        { ...fresh, isRemoved: true, endpoint: '10.99.1.2:1' },
        { publicKey: KEY, allowedIps: { wanted: ['10.7.0.2/32', '10.7.0.3/32'], added: ['10.7.0.3/32'] } },
      ],
    })
    const secret = SECRET.toString('base64')
    expect(calls).toEqual([
      { args: 'wg set ctl0 private-key /dev/stdin', stdin: `${secret}\n` },
      { args: 'wg set ctl0 listen-port 1', stdin: undefined },
      { args: `wg set ctl0 peer ${KEY} remove`, stdin: undefined },
      {
        args: 'wg addconf ctl0 /dev/stdin',
        stdin: `[Peer]\nPublicKey = ${KEY}\nPresharedKey = ${secret}\nAllowedIPs = 10.7.0.2/32\nPersistentKeepalive = 25\n`,
      },
      {
        args: `wg set ctl0 peer ${KEY} remove peer ${KEY} preshared-key /dev/stdin endpoint 10.99.1.2:1 allowed-ips 10.7.0.2/32`,
        stdin: `${secret}\n`,
      },
      { args: `wg set ctl0 peer ${KEY} allowed-ips 10.7.0.2/32,10.7.0.3/32`, stdin: undefined },
    ])
  })

  it('fails with its own reason', async () => {
    const run: RunProgram = async () => ({
      stdout: '',
      stderr: 'Unable to modify interface: No such device\n',
      exitCode: 1,
    })
    await expect(createWgDriver('ctl0', run).edit({ listenPort: 1 })).rejects.toThrow(
      'wg set failed: Unable to modify interface: No such device',
    )
  })
})
