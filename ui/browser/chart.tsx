// A chart of values over time, as bars with a scale.

interface ChartProps {
  title: string;
  /** The newest value, as text. */
  value: string;
  /** Oldest first. */
  values: readonly number[];
  /** The label of the highest value. */
  highest: string;
  tone: "green" | "red" | "accent";
}

const WIDTH = 600;
const HEIGHT = 96;

export function Chart({ title, value, values, highest, tone }: ChartProps) {
  const most = Math.max(...values, 0);
  const step = WIDTH / Math.max(1, values.length);
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span> <strong>{value}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        class={tone}
        role="img"
        aria-label={`${title}: ${value}, highest ${highest}`}
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        <line x1="0" x2={WIDTH} y1="0.5" y2="0.5" />
        {values.map((one, index) => {
          const height = most === 0 ? 0 : Math.max(one > 0 ? 2 : 0, (one / most) * (HEIGHT - 2));
          return <rect key={index} x={index * step + step * 0.1} y={HEIGHT - height} width={step * 0.8} height={height} />;
        })}
      </svg>
      <span class="scale">{highest}</span>
    </figure>
  );
}
