/** Something to wait at until another path opens it. */
export interface Gate {
  readonly passed: Promise<void>
  readonly open: () => void
}

export function gate(): Gate {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}
