/**
 * Other processes of this machine.
 *
 * @since 0.1.0
 */

/**
 * Whether a process of this number runs.
 *
 * @category guards
 * @since 0.1.0
 */
export const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It runs, as somebody else.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
