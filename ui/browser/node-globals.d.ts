// Types of Node's globals to which shared modules refer. The page calls none of them.

interface Performance {
  eventLoopUtilization(): { active: number };
}
