// What shared modules name that only Node has. The page calls none of it.

interface Performance {
  eventLoopUtilization(): { active: number };
}
