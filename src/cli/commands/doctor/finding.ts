/** What one look found, and what to do about it. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped'
  readonly detail: string
  /** One line; empty where there is nothing to do. */
  readonly advice: string
}

export const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail, advice: '' })
export const skipped = (check: string, detail: string): Finding => ({ check, status: 'skipped', detail, advice: '' })
export const warning = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: 'warning',
  detail,
  advice,
})
export const problem = (check: string, detail: string, advice: string): Finding => ({
  check,
  status: 'problem',
  detail,
  advice,
})
