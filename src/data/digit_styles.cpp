#include "data/digit_styles.h"

namespace thimble::data {
namespace {

constexpr bool kCorner = true;

constexpr Knot kZeroRound[] = {{.42f, .03f}, {.22f, .06f}, {.07f, .28f}, {.03f, .58f},
                               {.12f, .88f}, {.32f, .99f}, {.52f, .88f}, {.62f, .60f},
                               {.60f, .30f}, {.49f, .09f}, {.36f, .02f}};
constexpr Knot kZeroNarrow[] = {{.34f, .02f}, {.18f, .16f}, {.10f, .48f},
                                {.13f, .82f}, {.27f, .99f}, {.42f, .86f},
                                {.49f, .52f}, {.45f, .18f}, {.31f, .01f}};
constexpr Knot kZeroCrossed[] = {{.52f, .14f}, {.36f, .02f}, {.17f, .14f}, {.06f, .46f},
                                 {.12f, .84f}, {.32f, .99f}, {.53f, .84f}, {.62f, .50f},
                                 {.53f, .17f}, {.34f, .06f}, {.24f, .13f}};

constexpr Knot kOneStick[] = {{.33f, .00f}, {.31f, .50f}, {.30f, 1.0f}};
constexpr Knot kOneFlag[] = {
    {.14f, .24f}, {.25f, .15f}, {.36f, .00f, kCorner}, {.35f, .50f}, {.34f, 1.0f}};
constexpr Knot kOneBase[] = {{.12f, 1.0f}, {.34f, .985f}, {.58f, .99f}};

constexpr Knot kTwoPlain[] = {{.07f, .24f}, {.17f, .07f}, {.36f, .01f}, {.54f, .12f},
                              {.55f, .34f}, {.40f, .62f}, {.20f, .84f}, {.03f, .97f, kCorner},
                              {.34f, .95f}, {.66f, .97f}};
constexpr Knot kTwoLoop[] = {{.10f, .20f}, {.24f, .03f}, {.46f, .04f}, {.55f, .22f}, {.46f, .50f},
                             {.30f, .76f}, {.13f, .95f}, {.02f, .93f}, {.06f, .81f}, {.20f, .80f},
                             {.38f, .93f}, {.54f, .98f}, {.68f, .90f}};
constexpr Knot kTwoSwan[] = {{.12f, .12f}, {.34f, .00f}, {.55f, .10f},          {.56f, .32f},
                             {.40f, .58f}, {.18f, .82f}, {.06f, .93f, kCorner}, {.22f, .88f},
                             {.42f, .97f}, {.64f, .93f}};

constexpr Knot kThreeRound[] = {{.08f, .13f}, {.22f, .02f},          {.42f, .03f}, {.54f, .18f},
                                {.46f, .36f}, {.25f, .46f, kCorner}, {.46f, .51f}, {.60f, .68f},
                                {.54f, .88f}, {.34f, .99f},          {.05f, .90f}};
constexpr Knot kThreeFlat[] = {
    {.08f, .03f}, {.32f, .035f}, {.57f, .02f, kCorner}, {.42f, .22f}, {.27f, .40f, kCorner},
    {.48f, .45f}, {.59f, .66f},  {.52f, .88f},          {.31f, .99f}, {.04f, .90f}};
constexpr Knot kThreeLoop[] = {{.10f, .14f}, {.28f, .01f}, {.50f, .07f}, {.54f, .24f}, {.42f, .41f},
                               {.26f, .48f}, {.22f, .42f}, {.31f, .41f}, {.50f, .52f}, {.58f, .72f},
                               {.48f, .92f}, {.28f, .99f}, {.06f, .88f}};

constexpr Knot kFourOpen[] = {
    {.16f, .02f}, {.11f, .26f}, {.05f, .53f, kCorner}, {.32f, .52f}, {.66f, .49f}};
constexpr Knot kFourStem[] = {{.53f, .06f}, {.49f, .50f}, {.45f, 1.0f}};
constexpr Knot kFourClosed[] = {
    {.47f, .00f}, {.26f, .28f}, {.02f, .62f, kCorner}, {.34f, .61f}, {.68f, .60f}};
constexpr Knot kFourClosedStem[] = {{.49f, .01f}, {.48f, .50f}, {.47f, 1.0f}};
constexpr Knot kFourCup[] = {{.10f, .06f}, {.04f, .30f}, {.12f, .49f},
                             {.31f, .49f}, {.48f, .36f}, {.56f, .14f}};
constexpr Knot kFourCupStem[] = {{.58f, .02f}, {.53f, .40f}, {.45f, 1.0f}};

constexpr Knot kFiveBody[] = {{.17f, .04f}, {.15f, .22f}, {.11f, .43f, kCorner},
                              {.32f, .37f}, {.52f, .48f}, {.58f, .68f},
                              {.49f, .90f}, {.28f, .99f}, {.03f, .91f}};
constexpr Knot kFiveRoof[] = {{.17f, .04f}, {.40f, .035f}, {.64f, .01f}};
constexpr Knot kFiveOneLine[] = {{.63f, .03f}, {.40f, .03f},          {.19f, .05f, kCorner},
                                 {.15f, .24f}, {.11f, .44f, kCorner}, {.31f, .38f},
                                 {.51f, .48f}, {.57f, .70f},          {.46f, .92f},
                                 {.26f, .99f}, {.03f, .90f}};
constexpr Knot kFiveCurved[] = {{.61f, .02f}, {.40f, .02f}, {.22f, .10f}, {.16f, .28f},
                                {.28f, .42f}, {.46f, .52f}, {.56f, .70f}, {.46f, .91f},
                                {.26f, .99f}, {.05f, .91f}};

constexpr Knot kSixCurved[] = {{.47f, .02f}, {.28f, .16f}, {.13f, .40f}, {.06f, .68f},
                               {.13f, .92f}, {.33f, .99f}, {.52f, .88f}, {.56f, .70f},
                               {.44f, .56f}, {.26f, .59f}, {.12f, .76f}};
constexpr Knot kSixStraight[] = {{.33f, .00f}, {.20f, .30f}, {.10f, .62f}, {.13f, .88f},
                                 {.28f, .99f}, {.45f, .90f}, {.50f, .73f}, {.38f, .61f},
                                 {.22f, .67f}, {.13f, .80f}};
constexpr Knot kSixHook[] = {{.57f, .13f}, {.46f, .02f}, {.29f, .09f}, {.13f, .34f},
                             {.06f, .64f}, {.12f, .89f}, {.31f, .99f}, {.51f, .87f},
                             {.54f, .68f}, {.40f, .55f}, {.21f, .60f}, {.10f, .74f}};

constexpr Knot kSevenPlain[] = {
    {.04f, .06f}, {.32f, .05f}, {.61f, .03f, kCorner}, {.43f, .45f}, {.26f, 1.0f}};
constexpr Knot kSevenBar[] = {{.14f, .52f}, {.34f, .49f}, {.56f, .47f}};
constexpr Knot kSevenSerif[] = {{.05f, .22f},          {.07f, .05f, kCorner}, {.34f, .06f},
                                {.62f, .03f, kCorner}, {.45f, .38f},          {.34f, .70f},
                                {.30f, 1.0f}};
constexpr Knot kSevenWave[] = {{.03f, .15f},          {.14f, .03f}, {.30f, .06f}, {.46f, .09f},
                               {.62f, .02f, kCorner}, {.44f, .42f}, {.36f, .72f}, {.33f, 1.0f}};

constexpr Knot kEightOneLine[] = {{.51f, .13f}, {.38f, .01f}, {.18f, .04f}, {.10f, .20f},
                                  {.21f, .37f}, {.40f, .52f}, {.54f, .70f}, {.50f, .90f},
                                  {.31f, .99f}, {.10f, .90f}, {.08f, .72f}, {.22f, .54f},
                                  {.41f, .37f}, {.53f, .20f}, {.48f, .06f}};
constexpr Knot kEightTop[] = {{.34f, .01f}, {.16f, .07f}, {.10f, .24f}, {.19f, .41f}, {.33f, .46f},
                              {.48f, .39f}, {.54f, .22f}, {.46f, .06f}, {.31f, .01f}};
constexpr Knot kEightBottom[] = {{.31f, .47f}, {.12f, .57f}, {.06f, .76f},
                                 {.15f, .93f}, {.32f, .99f}, {.51f, .92f},
                                 {.57f, .74f}, {.49f, .56f}, {.32f, .47f}};
constexpr Knot kEightOpen[] = {{.56f, .06f}, {.38f, .01f}, {.17f, .08f}, {.13f, .25f}, {.30f, .44f},
                               {.47f, .62f}, {.50f, .83f}, {.34f, .99f}, {.14f, .92f}, {.12f, .72f},
                               {.30f, .48f}, {.46f, .28f}, {.60f, .10f}};

constexpr Knot kNineStraight[] = {{.53f, .10f}, {.37f, .00f}, {.16f, .08f}, {.06f, .27f},
                                  {.14f, .44f}, {.33f, .46f}, {.49f, .32f}, {.55f, .08f, kCorner},
                                  {.52f, .50f}, {.47f, 1.0f}};
constexpr Knot kNineCurved[] = {{.55f, .16f}, {.42f, .02f}, {.20f, .05f}, {.08f, .23f},
                                {.15f, .43f}, {.35f, .47f}, {.51f, .34f}, {.57f, .17f, kCorner},
                                {.56f, .52f}, {.47f, .82f}, {.29f, .98f}, {.08f, .92f}};
constexpr Knot kNineSlanted[] = {{.52f, .20f}, {.41f, .04f}, {.22f, .03f}, {.08f, .18f},
                                 {.10f, .38f}, {.28f, .45f}, {.46f, .34f}, {.54f, .18f},
                                 {.48f, .48f}, {.36f, .76f}, {.22f, 1.0f}};

constexpr Style kZero[] = {{5, {kZeroRound}}, {3, {kZeroNarrow}}, {2, {kZeroCrossed}}};
constexpr Style kOne[] = {{6, {kOneStick}}, {3, {kOneFlag}}, {1, {kOneFlag, kOneBase}}};
constexpr Style kTwo[] = {{4, {kTwoPlain}}, {3, {kTwoLoop}}, {3, {kTwoSwan}}};
constexpr Style kThree[] = {{5, {kThreeRound}}, {2, {kThreeFlat}}, {2, {kThreeLoop}}};
constexpr Style kFour[] = {{4, {kFourOpen, kFourStem}},
                           {2, {kFourClosed, kFourClosedStem}},
                           {3, {kFourCup, kFourCupStem}}};
constexpr Style kFive[] = {{4, {kFiveBody, kFiveRoof}}, {3, {kFiveOneLine}}, {2, {kFiveCurved}}};
constexpr Style kSix[] = {{4, {kSixCurved}}, {3, {kSixStraight}}, {2, {kSixHook}}};
constexpr Style kSeven[] = {
    {5, {kSevenPlain}}, {2, {kSevenPlain, kSevenBar}}, {2, {kSevenSerif}}, {2, {kSevenWave}}};
constexpr Style kEight[] = {
    {5, {kEightOneLine}}, {2, {kEightTop, kEightBottom}}, {2, {kEightOpen}}};
constexpr Style kNine[] = {{4, {kNineStraight}}, {2, {kNineCurved}}, {3, {kNineSlanted}}};

constexpr std::span<const Style> kStyles[] = {kZero, kOne, kTwo,   kThree, kFour,
                                              kFive, kSix, kSeven, kEight, kNine};

}  // namespace

std::span<const Style> styles_of(int digit) { return kStyles[digit]; }

}  // namespace thimble::data
