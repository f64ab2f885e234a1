// Includes the solution by another directive.
// gains: 0 #import
// unchecked: 100
#import "../solution.cu"
