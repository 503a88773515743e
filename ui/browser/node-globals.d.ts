// Types of Node's globals that shared modules name. The page calls none of them.

interface Performance {
  eventLoopUtilization(): { active: number };
}
