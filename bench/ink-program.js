// An Ink program that draws one line: the baseline for the dashboard's first frame.

process.env.NODE_ENV = "production";
const [{ render, Text }, { createElement }] = await Promise.all([import("ink"), import("react")]);
render(createElement(Text, null, "One line"));
